import { type Check, members, milliseconds, text } from "./checks.ts";

const isolation: Check = (value) =>
  value === "shared" || value === "strict" ? undefined : 'must be "shared" or "strict"';
export const environment: Check = (value) => {
  if (typeof value === "string") return text(value);
  members("environment", value, { path: text, isolation, startTimeoutMs: milliseconds });
  return (value as { path?: unknown }).path === undefined ? "needs the `path` of its folder" : undefined;
};
