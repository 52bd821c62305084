import { totalTokens } from "../options/usage.ts";
import type { StoredRun } from "./storedRun.ts";

/** A run as `--json` shows it. */
export const summaryOf = (run: StoredRun): object => {
  const { owner, owns, isCleaned, temporaryDirectory, work, unfinishedWorktree, ...more } = run;
  const { isUnfinishedCopy, recovery, commits, usage, ...told } = more;
  return {
    ...told,
    pid: owner.pid,
    host: owner.host,
    commits: commits.map((sha) => ({ sha })),
    ...(usage && { usage, tokens: totalTokens(usage) }),
  };
};
