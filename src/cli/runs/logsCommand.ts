import { Command } from "commander";
import { wholeNumberOrNone } from "../run/runValues.ts";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { printPiece } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { tellUnreadable } from "./unreadableRuns.ts";
import { WHICH_RUN } from "./whichRun.ts";

interface LogsFlags {
  readonly cwd?: string;
  readonly follow?: boolean;
  readonly lines?: number;
}

const perform = async (
  { cwd, follow = false, lines }: LogsFlags,
  wanted: string | undefined,
): Promise<void> => {
  const [{ findRepository }, { listRuns }, { runToShow }, { readLog }] = await Promise.all([
    import("../../runs/findRepository.ts"),
    import("../../runs/listRuns.ts"),
    import("./chosenRuns.ts"),
    import("../../runs/log/readLog.ts"),
  ]);
  const run = await runToShow(listRuns(await findRepository(cwd), tellUnreadable), wanted);
  for await (const piece of readLog(run, { follow, lines })) {
    if (!(await printPiece(piece))) return;
  }
};

/** `sanddune logs`: prints the run log. */
export const createLogsCommand = (): Command =>
  withExamples(
    new Command("logs")
      .description("Prints the run log of a run.")
      .argument("[run]", `${WHICH_RUN}; of several, the last (default: the latest run)`)
      .option("-f, --follow", "follow the log until the run ends")
      .option("-n, --lines <n>", "start with the last n lines (default: all)", wholeNumberOrNone)
      .option(...CWD_FLAG)
      .action(performing(perform)),
    { title: "Follow the latest run", command: "sanddune logs --follow" },
    { title: "The end of another run's log", command: "sanddune logs -n 20 agent/fix-42" },
  );
