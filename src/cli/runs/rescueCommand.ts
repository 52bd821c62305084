import { Command } from "commander";
import { type Recovery, sentencesOf } from "../../runs/recover/recovery.ts";
import { findOwnProvider, requireModulePath } from "../project/ownProvider.ts";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
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
  kept: "Imported commits are on their branches, other work was not changed.",
  tidying: "finishing the current step",
};

/** The result for a run, as text. */
const linesOf = (recovery: Recovery): string[] => {
  const sentences = sentencesOf(recovery);
  return sentences.length === 0 ? [`Run ${recovery.runId} has nothing to rescue.`] : sentences;
};

const perform = async (flags: RescueFlags, wanted: readonly string[]): Promise<void> => {
  const [{ findRepository }, { listRuns }, { listOrphans }, { runsToRescue }, { rescueRun }] =
    await Promise.all([
      import("../../runs/findRepository.ts"),
      import("../../runs/listRuns.ts"),
      import("../../runs/orphans.ts"),
      import("./chosenRuns.ts"),
      import("../../runs/recover/rescueRun.ts"),
    ]);
  requireModulePath(flags.sandbox);
  await findOwnProvider(flags.sandbox, flags.cwd);
  using stop = stopOnSignals(STOPPED);
  const repository = await findRepository(flags.cwd);
  const runs = [...listRuns(repository, tellUnreadable), ...listOrphans(repository)];
  const found = runsToRescue(runs, wanted);
  if (found.length === 0 && !flags.json) return print("There is no dead run to rescue.");
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
Uncommitted files stay in the run's worktree, or in your checkout, as the agent
left them. Files in an isolated sandbox cannot be rescued.`;

/** `sanddune rescue`: imports the commits of dead runs. */
export const createRescueCommand = (): Command =>
  withExamples(
    new Command("rescue")
      .description("Ends the processes of dead runs, and imports their commits.")
      .argument("[run...]", `${WHICH_RUN} (default: all dead runs)`)
      .option("--sandbox <file>", "the module of your own sandbox provider that created its sandbox")
      .option("--sandbox-is-gone", "do not look for its sandbox: you have checked that it is gone")
      .option(...CWD_FLAG)
      .option("--json", "print the results as one JSON array")
      .action(performing(perform)),
    { title: "Rescue every dead run", command: "sanddune rescue" },
    { title: "Find the dead runs, then rescue one", command: "sanddune ps\nsanddune rescue 7f3a21" },
  ).addHelpText("after", NOTES);
