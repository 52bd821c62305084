import { Command, Option } from "commander";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { StoredRun } from "../../runs/storedRun.ts";
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

/** How many of the runs that are over are shown unless all are asked for. */
const RECENT = 10;

const isOver = ({ state }: StoredRun): boolean => state !== "running" && state !== "dead";

/** What is running or dead, and what has ended last. */
const worthShowing = (runs: readonly StoredRun[], all: boolean): readonly StoredRun[] => {
  const recent = new Set(runs.filter(isOver).slice(-RECENT));
  return all ? runs : runs.filter((run) => !isOver(run) || recent.has(run)).filter((run) => !run.isCleaned);
};

const hints = (runs: readonly StoredRun[], shown: readonly StoredRun[]): string[] => {
  const dead = runs.filter(({ state, isCleaned }) => state === "dead" && !isCleaned).length;
  const hidden = runs.length - shown.length;
  return [
    dead > 0 &&
      `${dead === 1 ? "A run is dead" : `${dead} runs are dead`}. What is left: ${sandduneCommand("clean")}`,
    hidden > 0 &&
      `${hidden} more ${hidden === 1 ? "is" : "are"} over. To see all: ${sandduneCommand("ps", "--all")}`,
  ].filter((hint) => hint !== false);
};

/** Reads the runs anew, and shows them as lines. */
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
      "--watch redraws a terminal, and standard output is none. Leave it out, or use --json.",
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
      .description("Lists the runs of this repository, the newest first: running, over, dead.")
      .option("-a, --all", `show every run, not just the last ${RECENT} that are over`)
      .addOption(new Option("--watch", "go on showing them as they change; Ctrl-C ends it").conflicts("json"))
      .option("--cwd <dir>", "the repository, or a directory in it (default: the current directory)")
      .option("--json", "print all runs as one JSON array")
      .action(performing(perform)),
    { title: "What is going on", command: "sanddune ps" },
    { title: "The same, live", command: "sanddune ps --watch" },
    {
      title: "The branches of the runs that failed",
      command: `sanddune ps --json \\\n| jq -r '.[] | select(.state == "failed").branch'`,
    },
  );
