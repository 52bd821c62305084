import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ensurePrivateDirectory } from "../options/configDirectory.ts";
import type { Repository } from "./repository.ts";

/** sanddune's own directory in the repository's git directory: no commit has files there, and `git clean` does not delete any. */
export const gitDirectoryParts = ({ commonDirectory }: Pick<Repository, "commonDirectory">): string =>
  join(commonDirectory, "sanddune");

/** What it holds besides locks and notes: shared checkouts, kept set-ups, and the overlays of runs. */
type GitDirectoryPart = "checkouts" | "setups" | "overlays";

export const gitDirectoryPart = (
  repository: Pick<Repository, "commonDirectory">,
  part: GitDirectoryPart,
): string => join(gitDirectoryParts(repository), part);

export const ensureGitDirectoryPart = (
  repository: Pick<Repository, "commonDirectory">,
  part: GitDirectoryPart,
): string => {
  // Open to whom the repository is open: all of its users take the locks in it.
  mkdirSync(gitDirectoryParts(repository), { recursive: true });
  const path = gitDirectoryPart(repository, part);
  ensurePrivateDirectory(path);
  return path;
};
