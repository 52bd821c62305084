import { existsSync, rmSync } from "node:fs";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { gitText } from "../../git/git.ts";
import { updateRefs } from "../../git/refs.ts";
import { checkpointRefs, RUN_REFS } from "../../git/runRefs.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { counted } from "../../tools/counted.ts";
import type { StoredRun } from "../storedRun.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

const listRefs = (cwd: string): Effect.Effect<string[], SandduneError> =>
  gitText(["for-each-ref", "--format=%(refname)", RUN_REFS], { cwd }).pipe(
    Effect.map((output) => output.split("\n")),
  );

const removeFiles = ({ runDirectory, logFilePath }: StoredRun): Effect.Effect<void, SandduneError> =>
  interruptible(async () => {
    if (logFilePath !== undefined) rmSync(logFilePath, { force: true });
    await removeDirectory(runDirectory);
  });

/**
 * Finds journals, run logs and checkpoints of runs that have left nothing else. Checkpoints are removed first: without the
 * journal they could not be attributed to a run.
 */
export const findRecords = Effect.fnUntraced(function* (
  { selected, repository }: CleanScope,
  /** Runs that keep something else. */
  keepsSomething: ReadonlySet<string>,
): Effect.fn.Return<Leftover[], SandduneError> {
  const cwd = repository.topLevel;
  const runs = selected.filter(
    ({ runId, runDirectory }) => !keepsSomething.has(runId) && existsSync(runDirectory),
  );
  const refs = runs.length === 0 ? [] : yield* listRefs(cwd);
  return runs.map((run): Leftover => {
    const checkpoints = refs.filter((ref) => ref.startsWith(checkpointRefs(run.runId)));
    const parts = [
      "journal",
      run.logFilePath !== undefined && "run log",
      checkpoints.length > 0 && counted(checkpoints.length, "checkpoint"),
    ].filter((part) => part !== false);
    return {
      what: "record",
      name: run.runDirectory,
      runIds: [run.runId],
      detail: parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`,
      remove: Effect.andThen(
        updateRefs(
          cwd,
          checkpoints.map((ref) => ({ ref, to: undefined })),
        ),
        removeFiles(run),
      ),
    };
  });
});
