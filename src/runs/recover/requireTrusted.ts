import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { UntrustedRepositoryError } from "../../errors.ts";
import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";
import { isInside } from "../../tools/isInside.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { listRuns } from "../listRuns.ts";
import type { StoredRun } from "../storedRun.ts";

const statusOf = (path: string) =>
  orUndefined(() => lstatSync(path, { throwIfNoEntry: false, bigint: true }));

/** A directory and its ancestors, the directory first. */
const ancestorsOf = (path: string): string[] =>
  dirname(path) === path ? [path] : [path, ...ancestorsOf(dirname(path))];

/** The main checkout of a linked worktree, as its `.git` file names it. */
const mainCheckoutOf = (worktreePath: string): string | undefined => {
  try {
    const gitFile = readFileSync(join(worktreePath, ".git"), "utf8").trimEnd();
    const [, commonDirectory] = /^gitdir: (.*)\/worktrees\/[^/]+$/.exec(gitFile) ?? [];
    return commonDirectory && dirname(resolve(worktreePath, commonDirectory));
  } catch {
    return undefined;
  }
};

/** Whether the entry existed before the run's agent started. */
const wasThereBefore = ({ work }: StoredRun, gitEntry: string, inode: bigint): boolean =>
  work?.nestedRepositories.some(
    ([path, identity]) =>
      path === Buffer.from(relative(work.checkoutPath, gitEntry)).toString("latin1") &&
      identity.endsWith(`:${inode}`),
  ) ?? false;

/** Whether the agent of a run may have created a repository in its checkout, and may still control it. */
const isSuspect = (run: StoredRun, gitEntry: string, inode: bigint): boolean => {
  const { work, state, recovery } = run;
  if (work === undefined || work.isIsolated) return false;
  if (state !== "running" && (state !== "dead" || recovery !== undefined)) return false;
  // Agents never see sanddune's own worktrees in a checkout.
  const isOurs = isInside(join(work.checkoutPath, CONFIG_DIRECTORY_NAME), gitEntry);
  const isNested = gitEntry !== join(work.checkoutPath, ".git") && isInside(work.checkoutPath, gitEntry);
  return isNested && !isOurs && !wasThereBefore(run, gitEntry, inode);
};

/**
 * Refuses a directory whose repository an agent may have created: one nested in a checkout where an agent works, or worked
 * when its run died. Git would read the settings of that repository and run the programs they name, so this check reads
 * files only.
 */
export const requireTrusted = (cwd: string): void => {
  let real: string;
  try {
    real = realpathSync(cwd);
  } catch {
    return;
  }
  const ancestors = ancestorsOf(real);
  const repositoryPath = ancestors.find((path) => statusOf(join(path, ".git")) !== undefined);
  if (repositoryPath === undefined) return;
  const gitEntry = join(repositoryPath, ".git");
  const inode = statusOf(gitEntry)?.ino ?? 0n;
  // A repository that is not nested belongs to the user.
  const around = ancestors.slice(ancestors.indexOf(repositoryPath) + 1);
  const mainCheckouts = new Set(around.flatMap((path) => [path, mainCheckoutOf(path) ?? path]));
  for (const checkout of mainCheckouts) {
    const configDirectory = join(checkout, CONFIG_DIRECTORY_NAME);
    if (!statusOf(join(configDirectory, "runs"))?.isDirectory()) continue;
    const suspect = listRuns({ configDirectory }).find((run) => isSuspect(run, gitEntry, inode));
    if (suspect?.work !== undefined) {
      const isRunning = suspect.state === "running";
      throw new UntrustedRepositoryError(repositoryPath, suspect.runId, isRunning, suspect.work.checkoutPath);
    }
  }
};
