import { Command } from "commander";
import { type Recovery, sentencesOf } from "../../runs/recover/recovery.ts";
import { findOwnProvider, requireModulePath } from "../project/ownProvider.ts";
import { EXIT_RUN_FAILED } from "../shared/exitCodes.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { stopOnSignals } from "../shared/stopSignals.ts";
import { tellUnreadable } from "./unreadableRuns.ts";
import { WHICH_RUN } from "./whichRun.ts";

interface RescueFlags {
  readonly cwd?: string;
  readonly sandbox?: string;
  readonly sandboxIsGone?: boolean;
  readonly json?: boolean;
}

const STOPPED = {
  subject: "rescue",
  kept: "What it had imported by then is on its branch, the rest is where it was.",
  tidying: "finishing what was begun",
};

/** What was done for a run, for people. */
const linesOf = (recovery: Recovery): string[] => {
  const sentences = sentencesOf(recovery);
  return sentences.length === 0 ? [`There is nothing to rescue of run ${recovery.runId}.`] : sentences;
};

const perform = async (flags: RescueFlags, wanted: readonly string[]): Promise<void> => {
  const [{ findRepository }, { listRuns }, { runsToRescue }, { rescueRun }] = await Promise.all([
    import("../../runs/findRepository.ts"),
    import("../../runs/listRuns.ts"),
    import("./chosenRuns.ts"),
    import("../../runs/recover/rescueRun.ts"),
  ]);
  requireModulePath(flags.sandbox);
  await findOwnProvider(flags.sandbox, flags.cwd);
  using stop = stopOnSignals(STOPPED);
  const repository = await findRepository(flags.cwd);
  const runs = listRuns(repository, tellUnreadable);
  const found = runsToRescue(runs, wanted);
  if (found.length === 0 && !flags.json) return print("No run is dead: there is nothing to rescue.");
  const recoveries: Recovery[] = [];
  for (const run of found) {
    const recovery = await rescueRun(repository, runs, run, {
      sandboxIsGone: flags.sandboxIsGone ?? false,
      signal: stop.signal,
    });
    recoveries.push(recovery);
    if (!flags.json) await print(linesOf(recovery).join("\n"));
  }
  if (flags.json) await printJson(recoveries);
  if (recoveries.some(({ kept }) => kept !== undefined)) process.exitCode = EXIT_RUN_FAILED;
};

const NOTES = `
Uncommitted files are in the run's worktree, or in your checkout, as the agent
left them. What an isolated sandbox holds cannot be fetched from outside of it.`;

/** `sanddune rescue`: brings the work of dead runs onto their branches. */
export const createRescueCommand = (): Command =>
  withExamples(
    new Command("rescue")
      .description("Ends what dead runs have left at work, and imports what was committed there.")
      .argument("[run...]", `${WHICH_RUN} (default: all that are dead)`)
      .option("--sandbox <file>", "the module of the sandbox provider of your own that has made its sandbox")
      .option("--sandbox-is-gone", "do not look for its sandbox: you have made sure that it is gone")
      .option("--cwd <dir>", "the repository, or a directory in it (default: the current directory)")
      .option("--json", "print what was done as one JSON array")
      .action(performing(perform)),
    { title: "Rescue every run that is dead", command: "sanddune rescue" },
    { title: "See which runs are dead, then rescue one", command: "sanddune ps\nsanddune rescue 7f3a21" },
  ).addHelpText("after", NOTES);
