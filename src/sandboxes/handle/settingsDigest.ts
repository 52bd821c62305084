import { createHash } from "node:crypto";

/** Identifies settings that decide what commands in a sandbox can do. A digest, because some may hold secrets. */
export const settingsDigest = (settings: object): string =>
  createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
