import type { SandboxRunResult } from "../../options/results.ts";

/** Warns that a run's commits are on no branch: git forgets them when HEAD moves. */
export const detachedHeadWarning = ({
  runId,
  branch,
  commits,
}: Pick<SandboxRunResult, "runId" | "branch" | "commits">): string[] => {
  const last = commits.at(-1);
  if (branch !== "HEAD" || last === undefined) return [];
  return [
    `HEAD is detached, so the commits are on no branch. To keep them: git branch work-${runId} ${last.sha}`,
  ];
};
