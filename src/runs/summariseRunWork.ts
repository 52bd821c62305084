import { runAtBoundary } from "../boundary/boundary.ts";
import { summariseWork, type WorkSummary } from "../git/workSummary.ts";
import type { SandboxRunResult } from "../options/results.ts";

/** Summarises the commits of a run. A run's result does not contain the summary; its terminal output and log do. */
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
