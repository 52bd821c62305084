/** What a service forbids to somebody whom it knows. */
export type Refusal = "quota" | "image" | "other";

const QUOTA =
  /quota|limit|exceed|concurren|maximum|\bplan\b|billing|payment|credits?\b|budget|suspended|blocked/i;
const IMAGE = /template|image|snapshot/i;

/** Reads that out of what the service has said. The credentials were accepted: a new key would be of no use. */
export const refusalOf = (said: string): Refusal => {
  if (QUOTA.test(said)) return "quota";
  return IMAGE.test(said) ? "image" : "other";
};
