import { runAtBoundary } from "../boundary/boundary.ts";
import { summariseWork, type WorkSummary } from "../git/workSummary.ts";
import type { SandboxRunResult } from "../options/results.ts";

/** What the commits of a run hold. The run itself tells it on a terminal and in its log, not in its result. */
export const summariseRunWork = (
  cwd: string,
  { commits = [] }: Partial<Pick<SandboxRunResult, "commits">>,
): Promise<WorkSummary | undefined> =>
  runAtBoundary(
    summariseWork(
      cwd,
      commits.map(({ sha }) => sha),
    ),
  );
