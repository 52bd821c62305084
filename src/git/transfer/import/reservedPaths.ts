import { CONFIG_DIRECTORY_NAME, PRIVATE_PARTS } from "../../../options/configDirectory.ts";
import { foldPath } from "../../foldPath.ts";
import type { TreeDifference } from "./treeChanges.ts";

const isReserved = (path: string): boolean =>
  foldPath(path) === CONFIG_DIRECTORY_NAME ||
  PRIVATE_PARTS.some((part) => `${foldPath(path)}/`.startsWith(`${CONFIG_DIRECTORY_NAME}/${part}/`));

/**
 * The first path reserved for sanddune that differs between two commits, if any. Checking out such a commit would
 * delete logs and worktrees, and an agent's env file would decide which variables the next sandbox gets. A name that
 * only some file systems take for the config directory is always refused.
 */
export const findReservedPathChange = ({ files, topNames }: TreeDifference): string | undefined => {
  const atTop = topNames.filter((name) => foldPath(name) === CONFIG_DIRECTORY_NAME);
  const lookAlike = atTop.find((name) => name !== CONFIG_DIRECTORY_NAME);
  if (lookAlike !== undefined || atTop.length === 0) return lookAlike;
  return files
    .map(({ path }) => path)
    .filter((path) => `${path}/`.startsWith(`${CONFIG_DIRECTORY_NAME}/`))
    .find(isReserved);
};
