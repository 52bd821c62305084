import { Command } from "commander";
import type { RunRecord } from "../runs/runRecord.ts";
import { EXIT_RUN_FAILED } from "./exitCodes.ts";
import { withExamples } from "./helpExamples.ts";
import { print, printJson, tell } from "./output.ts";
import { performing } from "./performing.ts";
import { tellUnreadable } from "./unreadableRuns.ts";

interface StopFlags {
  readonly cwd?: string;
  readonly json?: boolean;
}

const endedAs = ({ state }: RunRecord): string => (state === "unsolved" ? "is unsolved" : `has ${state}`);

/** What became of a run that was to be stopped. */
const outcomeOf = (before: RunRecord, after: RunRecord): string => {
  const { runId, branch = "HEAD", commits } = after;
  if (after.state === "dead") return `Run ${runId} is dead. What it has left: sanddune clean`;
  if (before.state !== "running") return `Run ${runId} was over already: it ${endedAs(after)}.`;
  const work = commits.length === 0 ? "no commits" : `commits on ${branch}: ${commits.length}`;
  return `Run ${runId} ${after.state === "aborted" ? "has stopped" : endedAs(after)}, ${work}.`;
};

const perform = async ({ cwd, json = false }: StopFlags, wanted: readonly string[]): Promise<void> => {
  const [{ findRepository, listRuns }, { findRun }, { stopRun }, { summaryOf }] = await Promise.all([
    import("../runs/listRuns.ts"),
    import("../runs/findRun.ts"),
    import("../runs/stopRun.ts"),
    import("../runs/describeRun.ts"),
  ]);
  const runs = listRuns(await findRepository(cwd), tellUnreadable);
  const found = [...new Set(wanted.map((one) => findRun(runs, one, "running")))];
  const running = found.filter(({ state }) => state === "running").length;
  if (running > 0) await tell(`Stopping ${running === 1 ? "the run" : `${running} runs`}, and waiting …`);
  const attempts = await Promise.allSettled(
    found.map(async (before) => ({ before, after: await stopRun(before) })),
  );
  const stopped = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
  const refused = attempts.find((attempt) => attempt.status === "rejected");
  // One that does not stop is no reason to be silent about the others.
  if (!json) for (const { before, after } of stopped) await print(outcomeOf(before, after));
  if (refused !== undefined) throw refused.reason;
  if (json) await printJson(stopped.map(({ after }) => summaryOf(after)));
  if (stopped.some(({ after }) => after.state === "dead")) process.exitCode = EXIT_RUN_FAILED;
};

/** `sanddune stop`: ends runs in order. */
export const createStopCommand = (): Command =>
  withExamples(
    new Command("stop")
      .description("Stops runs as Ctrl-C would, and waits until their commits are home.")
      .argument("<run...>", "the id of a run, the beginning or the end of it, or its name")
      .option("--cwd <dir>", "the repository, or a directory in it (default: the current directory)")
      .option("--json", "print the stopped runs as one JSON array")
      .action(performing(perform)),
    { title: "Stop a run; others in the same process go on", command: "sanddune stop 7f3a21" },
  );
