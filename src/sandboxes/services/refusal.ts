/** The reason why a service forbids a request although it accepts the credentials. */
export type Refusal = "quota" | "image" | "other";

const QUOTA =
  /quota|limit|exceed|concurren|maximum|\bplan\b|billing|payment|credits?\b|budget|suspended|blocked/i;
const IMAGE = /template|image|snapshot/i;

/** Reads the reason out of the message of the service. A new key would be of no use. */
export const refusalOf = (said: string): Refusal => {
  if (QUOTA.test(said)) return "quota";
  return IMAGE.test(said) ? "image" : "other";
};
