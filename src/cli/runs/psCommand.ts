import { Command, Option } from "commander";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { StoredRun } from "../../runs/storedRun.ts";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson, terminalColumns } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { UsageError } from "../shared/usageError.ts";
import { cannotRead, tellUnreadable } from "./unreadableRuns.ts";

interface PsFlags {
  readonly cwd?: string;
  readonly all?: boolean;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** The number of ended runs that are shown without `--all`. */
const RECENT = 10;

const isOver = ({ state }: StoredRun): boolean => state !== "running" && state !== "dead";

/** Running and dead runs, and the last ones that ended. */
const worthShowing = (runs: readonly StoredRun[], all: boolean): readonly StoredRun[] => {
  const recent = new Set(runs.filter(isOver).slice(-RECENT));
  return all ? runs : runs.filter((run) => !isOver(run) || recent.has(run)).filter((run) => !run.isCleaned);
};

const hints = (runs: readonly StoredRun[], shown: readonly StoredRun[]): string[] => {
  const dead = runs.filter(({ state, isCleaned }) => state === "dead" && !isCleaned).length;
  const hidden = runs.length - shown.length;
  return [
    dead > 0 &&
      `${dead === 1 ? "A run is dead" : `${dead} runs are dead`}. To list the leftovers: ${sandduneCommand("clean")}`,
    hidden > 0 &&
      `${hidden} more ${hidden === 1 ? "has" : "have"} ended. To list all: ${sandduneCommand("ps", "--all")}`,
  ].filter((hint) => hint !== false);
};

/** Reads the runs, and shows them as lines. */
const view = async ({ cwd, all = false }: PsFlags): Promise<(columns?: number) => string[]> => {
  const [{ findRepository }, { listRuns }, { runTable }] = await Promise.all([
    import("../../runs/findRepository.ts"),
    import("../../runs/listRuns.ts"),
    import("./runTable.ts"),
  ]);
  const repository = await findRepository(cwd);
  return (columns) => {
    const unreadable: string[] = [];
    const runs = listRuns(repository, (runDirectory) => unreadable.push(cannotRead(runDirectory)));
    if (runs.length === 0) return ["There are no runs in this repository yet.", ...unreadable];
    const shown = worthShowing(runs, all);
    return [
      ...(shown.length === 0 ? [] : runTable(shown.toReversed(), columns)),
      ...hints(runs, shown),
      ...unreadable,
    ];
  };
};

const perform = async (flags: PsFlags): Promise<void> => {
  if (flags.json) {
    const [{ findRepository }, { listRuns }, { summaryOf }] = await Promise.all([
      import("../../runs/findRepository.ts"),
      import("../../runs/listRuns.ts"),
      import("../../runs/runSummary.ts"),
    ]);
    await printJson(
      listRuns(await findRepository(flags.cwd), tellUnreadable)
        .reverse()
        .map(summaryOf),
    );
    return;
  }
  if (flags.watch && !process.stdout.isTTY) {
    throw new UsageError(
      "--watch needs a terminal, and standard output is not one. Remove it, or use --json.",
    );
  }
  const lines = await view(flags);
  if (!flags.watch) return print(lines(terminalColumns()).join("\n"));
  const { repaint } = await import("./repaint.ts");
  await repaint(lines);
};

/** `sanddune ps`: the runs of this repository. */
export const createPsCommand = (): Command =>
  withExamples(
    new Command("ps")
      .description("Lists the runs of this repository, newest first.")
      .option("-a, --all", `list every run, not just the last ${RECENT} that ended`)
      .addOption(new Option("--watch", "update the list until Ctrl-C").conflicts("json"))
      .option(...CWD_FLAG)
      .option("--json", "print all runs as one JSON array")
      .action(performing(perform)),
    { title: "List the runs", command: "sanddune ps" },
    { title: "The same, live", command: "sanddune ps --watch" },
    {
      title: "The branches of the runs that failed",
      command: `sanddune ps --json \\\n| jq -r '.[] | select(.state == "failed").branch'`,
    },
  );
