import { Command, Option } from "commander";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { Replay } from "../../trajectory/read/replay.ts";
import { wholeNumberOrNone } from "../run/runValues.ts";
import { givenSandboxFlag } from "../run/sandboxFlags.ts";
import { tellUnreadable } from "../runs/unreadableRuns.ts";
import { WHICH_RUN } from "../runs/whichRun.ts";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson, tell, terminalColumns } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { UsageError } from "../shared/usageError.ts";
import { addEvaluateFlags, type EvaluateFlags, evaluate } from "./evaluate.ts";

interface ReplayFlags extends EvaluateFlags {
  readonly step?: number;
  readonly checkout?: number;
  readonly to?: string;
  readonly html?: string;
  readonly json?: boolean;
}

const open = async ({ cwd }: ReplayFlags, wanted: string | undefined): Promise<Replay> => {
  const [{ findRepository }, { listRuns }, { runToShow }, { isRecorded, openReplay }] = await Promise.all([
    import("../../runs/findRepository.ts"),
    import("../../runs/listRuns.ts"),
    import("../runs/chosenRuns.ts"),
    import("../../trajectory/read/replay.ts"),
  ]);
  const repository = await findRepository(cwd);
  const missing = `No run of this repository was recorded. To record one: ${sandduneCommand("run", "--trajectory")}`;
  const run = await runToShow(listRuns(repository, tellUnreadable), wanted, { has: isRecorded, missing });
  return openReplay(repository, run);
};

const checkOut = async (replay: Replay, step: number, { to, json }: ReplayFlags): Promise<void> => {
  const { checkOutStep, findStep } = await import("../../trajectory/read/replay.ts");
  const directory = await checkOutStep(replay, step, to);
  const { commit } = findStep(replay, step);
  if (json) await printJson({ step, commit, directory });
  else await print(directory);
};

const showStep = async (replay: Replay, number: number, { json }: ReplayFlags): Promise<void> => {
  const { findStep, patchOfStep } = await import("../../trajectory/read/replay.ts");
  const step = findStep(replay, number);
  const patch = await patchOfStep(replay, step);
  if (json) {
    const { stepSummary } = await import("./json.ts");
    return printJson(stepSummary(replay, step, patch));
  }
  const { stepLines } = await import("./step.ts");
  await print(stepLines(replay, step, patch).join("\n"));
};

const showAll = async (replay: Replay, { json }: ReplayFlags): Promise<void> => {
  if (json) {
    const { replaySummary } = await import("./json.ts");
    return printJson(replaySummary(replay));
  }
  const { replayTable } = await import("./table.ts");
  await print(replayTable(replay, terminalColumns()).join("\n"));
};

/** A flag without any effect is a mistake. */
const checkFlags = (flags: ReplayFlags): void => {
  const empty = (["to", "html", "evaluate"] as const).find((flag) => flags[flag] === "");
  if (empty !== undefined) throw new UsageError(`--${empty} needs a path`);
  if (flags.to !== undefined && flags.checkout === undefined) {
    throw new UsageError("--to is the directory for --checkout STEP, which is missing");
  }
  const lonely = givenSandboxFlag(flags);
  if (lonely !== undefined && flags.evaluate === undefined) {
    throw new UsageError(`${lonely} chooses the sandbox of the tests, so it needs --evaluate DIR`);
  }
};

const perform = async (flags: ReplayFlags, wanted: string | undefined): Promise<void> => {
  checkFlags(flags);
  let replay = await open(flags, wanted);
  const step = flags.checkout ?? flags.step;
  if (step !== undefined) {
    // Checked before anything that takes long.
    const { findStep } = await import("../../trajectory/read/replay.ts");
    findStep(replay, step);
  }
  if (flags.evaluate !== undefined) {
    await evaluate(replay, flags.evaluate, flags);
    replay = await open(flags, replay.run.runId);
  }
  if (flags.html !== undefined) {
    const { writePage } = await import("../../trajectory/show/writePage.ts");
    await writePage(replay, flags.html);
    await tell(`Page: ${flags.html}`);
  }
  if (flags.checkout !== undefined) return checkOut(replay, flags.checkout, flags);
  if (flags.step !== undefined) return showStep(replay, flags.step, flags);
  await showAll(replay, flags);
};

/** `sanddune replay`: a recorded run, step by step. */
export const createReplayCommand = (): Command =>
  withExamples(
    addEvaluateFlags(
      new Command("replay")
        .description("Shows a run that was recorded with --trajectory, step by step.")
        .argument("[run]", `${WHICH_RUN}, of several the last (default: the latest that was recorded)`)
        .option("--step <n>", "show one step in full, with its patch", wholeNumberOrNone)
        .addOption(
          new Option("--checkout <n>", "write the files as they were after a step to a new directory")
            .argParser(wholeNumberOrNone)
            .conflicts("step"),
        )
        .option("--to <dir>", "the new directory for --checkout (default: one in the run's directory)")
        .option("--html <file>", "write an HTML page with all steps and a chart of the tests")
        .option(...CWD_FLAG)
        .option("--json", "print the same as one JSON object"),
    ).action(performing(perform)),
    { title: "Show the steps of the latest recorded run", command: "sanddune replay" },
    { title: "Show one step with its patch", command: "sanddune replay 7f3a21 --step 12" },
    {
      title: "Check out the files as they were after a step",
      command: "sanddune replay 7f3a21 --checkout 12 --to /tmp/after-12",
    },
    {
      title: "Show how many tests passed after each step, as a page",
      command: "sanddune replay 7f3a21 --evaluate tests/env --html replay.html",
    },
  );
