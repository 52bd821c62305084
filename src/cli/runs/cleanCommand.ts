import { Command, Option } from "commander";
import { NotARepositoryError } from "../../errors.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { findOwnProvider, requireModulePath } from "../project/ownProvider.ts";
import { collectNames } from "../run/runValues.ts";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { EXIT_RUN_FAILED } from "../shared/exitCodes.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson, tell } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { stopOnSignals } from "../shared/stopSignals.ts";
import { cleanLines } from "./cleanReport.ts";
import { tellUnreadable } from "./unreadableRuns.ts";

interface CleanFlags {
  readonly cwd?: string;
  readonly yes?: boolean;
  readonly run?: string[];
  readonly branch?: string[];
  readonly records?: boolean;
  readonly sandbox?: string;
  readonly json?: boolean;
}

const STOPPED = {
  subject: "clean",
  kept: "Some leftovers were removed, the others were not changed.",
  tidying: "finishing the current step",
};

const OUTSIDE =
  "This is not a git repository, so only sandboxes of createStandaloneSandbox() and of scenarios are cleaned.";

const needsRepository = ({ cwd, run, branch, records }: CleanFlags): boolean =>
  [cwd, run, branch, records].some((flag) => flag !== undefined);

/** The command that removes what this one lists. */
const removalOf = ({ cwd, run = [], branch = [], records = false, sandbox }: CleanFlags): string =>
  sandduneCommand(
    "clean",
    ...(cwd === undefined ? [] : ["--cwd", cwd]),
    ...run.flatMap((id) => ["--run", id]),
    ...branch.flatMap((name) => ["--branch", name]),
    ...(records ? ["--records"] : []),
    ...(sandbox === undefined ? [] : ["--sandbox", sandbox]),
    "--yes",
  );

const perform = async (flags: CleanFlags): Promise<void> => {
  const [{ findRepository }, { cleanUp, cleanUpOutsideRepositories }] = await Promise.all([
    import("../../runs/findRepository.ts"),
    import("../../runs/clean/cleanUp.ts"),
  ]);
  requireModulePath(flags.sandbox);
  await findOwnProvider(flags.sandbox, flags.cwd);
  using stop = stopOnSignals(STOPPED);
  const options = { remove: flags.yes ?? false, signal: stop.signal };
  const repository = await findRepository(flags.cwd).catch((error: unknown) => {
    if (!(error instanceof NotARepositoryError) || needsRepository(flags)) throw error;
    return undefined;
  });
  if (repository === undefined) await tell(OUTSIDE);
  const outcomes =
    repository === undefined
      ? await cleanUpOutsideRepositories(options)
      : await cleanUp(repository, {
          ...options,
          runs: flags.run ?? [],
          branches: flags.branch ?? [],
          records: flags.records ?? false,
          onUnreadable: tellUnreadable,
        });
  if (flags.json) await printJson(outcomes);
  else await print(cleanLines(outcomes, removalOf(flags)).join("\n"));
  if (outcomes.some(({ outcome }) => outcome === "failed")) process.exitCode = EXIT_RUN_FAILED;
};

const NOTES = `
Without --run and --branch, nothing is removed that holds work: a worktree with
changes, or commits that are on no branch. Such work is listed with the reason.`;

/** `sanddune clean`: removes leftovers of runs. */
export const createCleanCommand = (): Command =>
  withExamples(
    new Command("clean")
      .description("Lists leftovers of runs, and removes them with --yes.")
      .addOption(new Option("--dry-run", "only list what would be removed (default)").conflicts("yes"))
      .option("--yes", "remove the leftovers")
      .option(
        "--run <run>",
        "only this run, with all its work; a branch with its commits stays (repeatable)",
        collectNames,
      )
      .option(
        "--branch <name>",
        "only the worktree of this branch with all files, and the branch if a run created it (repeatable)",
        collectNames,
      )
      .option("--sandbox <file>", "the module of your own sandbox provider, to find its sandboxes")
      .option("--records", "also journals and logs of runs that have no other leftovers")
      .option(...CWD_FLAG)
      .option("--json", "print the leftovers as one JSON array")
      .action(performing(perform)),
    { title: "List the leftovers, then remove them", command: "sanddune clean\nsanddune clean --yes" },
    { title: "Remove a run with its work", command: "sanddune clean --run 7f3a21 --yes" },
  ).addHelpText("after", NOTES);
