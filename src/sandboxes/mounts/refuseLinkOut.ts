import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { InvalidOptionsError } from "../../errors.ts";
import { contains } from "./contains.ts";

/** Whether a path leads into a directory, or through it. */
const leadsThrough = async (path: string, directory: string): Promise<boolean> =>
  (await contains(directory, await realpath(path))) ||
  (dirname(path) !== path && (await leadsThrough(dirname(path), directory)));

/**
 * Refuses a path in the repository that leads out of it by a symbolic link. Agents commit links, which are merged without a
 * question: the user's directory could have become any other one.
 */
export const refuseLinkOut = async (option: string, path: string, repositoryPath: string): Promise<void> => {
  const real = await realpath(path);
  if ((await contains(repositoryPath, real)) || !(await leadsThrough(dirname(path), repositoryPath))) return;
  throw new InvalidOptionsError(
    option,
    `${path} leads out of the repository by a symbolic link, to ${real}, and an agent may have made that link. If you want that, name ${real} itself.`,
  );
};
