import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { InvalidOptionsError } from "../../errors.ts";
import { contains } from "./contains.ts";

/** Whether a path leads to something in a directory, or through it. */
const leadsThrough = async (path: string, directory: string): Promise<boolean> =>
  (await contains(directory, await realpath(path))) ||
  (dirname(path) !== path && (await leadsThrough(dirname(path), directory)));

/**
 * Refuses a path in the repository that a symbolic link leads out of it. Agents commit links, and merging them asks no one: the
 * directory that the user named would have become any other one.
 */
export const refuseLinkOut = async (option: string, path: string, repositoryPath: string): Promise<void> => {
  const real = await realpath(path);
  if ((await contains(repositoryPath, real)) || !(await leadsThrough(dirname(path), repositoryPath))) return;
  throw new InvalidOptionsError(
    option,
    `${path} leads out of the repository by a symbolic link, to ${real}, and an agent can have made that link. If that is what you want, name ${real} itself.`,
  );
};
