import { stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Identifies a file, if it exists, by any path: case, links and bind mounts give it several. */
const identityOf = async (path: string): Promise<string | undefined> => {
  const status = await stat(path, { bigint: true }).catch(() => undefined);
  return status && `${status.dev}:${status.ino}`;
};

/** A path and every directory above it. */
const ancestry = (path: string): string[] => {
  const above = dirname(path);
  return above === path ? [path] : [path, ...ancestry(above)];
};

/** Whether a directory is `inner`, or contains it. False if `inner` does not exist. */
export const contains = async (directory: string, inner: string): Promise<boolean> => {
  const [wanted, ...found] = await Promise.all([directory, ...ancestry(inner)].map(identityOf));
  return wanted !== undefined && found[0] !== undefined && found.includes(wanted);
};
