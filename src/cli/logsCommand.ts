import { Command } from "commander";
import { withExamples } from "./helpExamples.ts";
import { printPiece } from "./output.ts";
import { performing } from "./performing.ts";
import { tellUnreadable } from "./unreadableRuns.ts";

interface LogsFlags {
  readonly cwd?: string;
  readonly follow?: boolean;
}

const perform = async ({ cwd, follow = false }: LogsFlags, wanted: string): Promise<void> => {
  const [{ findRepository }, { listRuns }, { findRun }, { readLog }] = await Promise.all([
    import("../runs/findRepository.ts"),
    import("../runs/listRuns.ts"),
    import("../runs/findRun.ts"),
    import("../runs/followLog.ts"),
  ]);
  const run = findRun(listRuns(await findRepository(cwd), tellUnreadable), wanted, "last");
  for await (const piece of readLog(run, follow)) {
    if (!(await printPiece(piece))) return;
  }
};

/** `sanddune logs`: what a run has logged. */
export const createLogsCommand = (): Command =>
  withExamples(
    new Command("logs")
      .description("Prints the run log of a run.")
      .argument("<run>", "its id, the beginning or the end of it, or its name (of several, the last)")
      .option("-f, --follow", "go on until the run has ended")
      .option("--cwd <dir>", "the repository, or a directory in it (default: the current directory)")
      .action(performing(perform)),
    { title: "Look over the shoulder of a run", command: "sanddune logs --follow 7f3a21" },
  );
