import { rmSync } from "node:fs";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { interruptible } from "../../process/interruptible.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

/** Journals and run logs of runs of which nothing else is left. */
export const findRecords = (
  { selected }: CleanScope,
  /** Runs of which something stays. */
  keepsSomething: ReadonlySet<string>,
): Leftover[] =>
  selected
    .filter(({ runId }) => !keepsSomething.has(runId))
    .map((run) => {
      const log = run.logFilePath;
      return {
        what: "record",
        name: run.runDirectory,
        runIds: [run.runId],
        detail: log === undefined ? "journal" : "journal and run log",
        remove: interruptible(
          async () => {
            if (log !== undefined) rmSync(log, { force: true });
            await removeDirectory(run.runDirectory);
          },
          (reason) => reason as SandduneError,
        ).pipe(Effect.asVoid),
      };
    });
