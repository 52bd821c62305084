import { Command } from "commander";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { type Recovery, sentencesOf } from "../../runs/recover/recovery.ts";
import type { StoredRun } from "../../runs/storedRun.ts";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { EXIT_RUN_FAILED } from "../shared/exitCodes.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson, tell } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { tellUnreadable } from "./unreadableRuns.ts";
import { WHICH_RUN } from "./whichRun.ts";

interface StopFlags {
  readonly cwd?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

const endedAs = ({ state }: StoredRun): string => (state === "unsolved" ? "is unsolved" : `has ${state}`);

interface StoppedRun {
  readonly before: StoredRun;
  readonly after: StoredRun;
  /** The recovery of a dead run, whose own process could not clean up. */
  readonly recovery: Recovery | undefined;
}

/** The result for a run. */
const outcomeOf = ({ before, after, recovery }: StoppedRun): string => {
  const { runId, branch = "HEAD", commits } = after;
  if (recovery !== undefined) {
    const dead = `Run ${runId} is dead. To list its leftovers: ${sandduneCommand("clean")}`;
    return [...sentencesOf(recovery), dead].join("\n");
  }
  if (before.state !== "running") return `Run ${runId} had already ended: it ${endedAs(after)}.`;
  const work = commits.length === 0 ? "no commits" : `commits on ${branch}: ${commits.length}`;
  return `Run ${runId} ${after.state === "aborted" ? "has stopped" : endedAs(after)}, ${work}.`;
};

const perform = async (
  { cwd, all = false, json = false }: StopFlags,
  wanted: readonly string[],
): Promise<void> => {
  const [{ findRepository }, { listRuns }, { runsToStop }, { stopRun }, { rescueRun }, { summaryOf }] =
    await Promise.all([
      import("../../runs/findRepository.ts"),
      import("../../runs/listRuns.ts"),
      import("./chosenRuns.ts"),
      import("../../runs/stopRun.ts"),
      import("../../runs/recover/rescueRun.ts"),
      import("../../runs/runSummary.ts"),
    ]);
  const repository = await findRepository(cwd);
  const runs = listRuns(repository, tellUnreadable);
  const mayAsk = Boolean(process.stdin.isTTY && process.stdout.isTTY) && !json;
  const found = await runsToStop(runs, wanted, { all, mayAsk });
  if (found.length === 0 && !json) return print("No run is running.");
  const running = found.filter(({ state }) => state === "running").length;
  if (running > 0) await tell(`Stopping ${running === 1 ? "the run" : `${running} runs`}, and waiting …`);
  const attempts = await Promise.allSettled(
    found.map(async (before): Promise<StoppedRun> => {
      const after = await stopRun(before);
      const isDead = after.state === "dead";
      return { before, after, recovery: isDead ? await rescueRun(repository, runs, after) : undefined };
    }),
  );
  const stopped = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
  const refused = attempts.find((attempt) => attempt.status === "rejected");
  // The others are reported even if one does not stop.
  if (!json) for (const run of stopped) await print(outcomeOf(run));
  if (refused !== undefined) throw refused.reason;
  if (json) await printJson(stopped.map(({ after }) => summaryOf(after)));
  if (stopped.some(({ after }) => after.state === "dead")) process.exitCode = EXIT_RUN_FAILED;
};

/** `sanddune stop`: stops runs and waits for them. */
export const createStopCommand = (): Command =>
  withExamples(
    new Command("stop")
      .description("Stops runs like Ctrl-C, and waits until their commits are imported.")
      .argument("[run...]", `${WHICH_RUN} (default: the running one)`)
      .option("--all", "stop every run of this repository")
      .option(...CWD_FLAG)
      .option("--json", "print the stopped runs as one JSON array")
      .action(performing(perform)),
    { title: "Stop the running run", command: "sanddune stop" },
    { title: "Stop one of several; the others continue", command: "sanddune stop 7f3a21" },
  );
