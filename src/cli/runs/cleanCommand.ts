import { Command, Option } from "commander";
import { NotARepositoryError } from "../../errors.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { findOwnProvider, requireModulePath } from "../project/ownProvider.ts";
import { collectNames } from "../run/runValues.ts";
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
  kept: "What it had removed by then is gone, the rest is as it was.",
  tidying: "finishing what was begun",
};

const OUTSIDE =
  "This is not a git repository: only what belongs to none is looked for, the sandboxes of createStandaloneSandbox() and of scenarios.";

const needsRepository = ({ cwd, run, branch, records }: CleanFlags): boolean =>
  [cwd, run, branch, records].some((flag) => flag !== undefined);

/** The same again, but in earnest. */
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
Without --run and --branch, nothing goes that holds work: a worktree with
changes, commits that no branch has. What stays is listed with the reason.`;

/** `sanddune clean`: removes what runs have left behind. */
export const createCleanCommand = (): Command =>
  withExamples(
    new Command("clean")
      .description("Says what runs have left behind, and removes it if told to.")
      .addOption(new Option("--dry-run", "only say what would be removed (default)").conflicts("yes"))
      .option("--yes", "remove it")
      .option(
        "--run <run>",
        "everything of this run but a branch with its commits (repeatable)",
        collectNames,
      )
      .option(
        "--branch <name>",
        "the worktree of this branch with all that is in it, and the branch if a run has made it (repeatable)",
        collectNames,
      )
      .option(
        "--sandbox <file>",
        "the module of a sandbox provider of your own, whose sandboxes are looked for",
      )
      .option("--records", "also journals and run logs of runs of which nothing else is left")
      .option("--cwd <dir>", "the repository, or a directory in it (default: the current directory)")
      .option("--json", "print what was found as one JSON array")
      .action(performing(perform)),
    { title: "See what there is, then remove it", command: "sanddune clean\nsanddune clean --yes" },
    { title: "Get rid of a run and of its work", command: "sanddune clean --run 7f3a21 --yes" },
  ).addHelpText("after", NOTES);
