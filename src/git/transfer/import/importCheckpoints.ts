import * as Effect from "effect/Effect";
import { ImportRefusedError, type SandduneError } from "../../../errors.ts";
import { gitText } from "../../git.ts";
import { updateRefs } from "../../refs.ts";
import { checkpointRef, SANDBOX_CHECKPOINT_REF } from "../../runRefs.ts";
import type { Checkpoint } from "../../snapshots/checkpoint.ts";
import { requireBoundedTrees } from "./measureTrees.ts";

const MAX_SAID = 300;

/** The result of importing checkpoints. */
export interface ImportedCheckpoints {
  /** The last checkpoint, if it was imported. Its ancestors are the others. */
  readonly heads: readonly string[];
  /** Sentences about checkpoints that were not imported. */
  readonly warnings: readonly string[];
}

/** A checkpoint and its ancestors, newest first. */
const chainOf = (cwd: string, newest: string, length: number): Effect.Effect<Set<string>, SandduneError> =>
  gitText(["rev-list", "--first-parent", `--max-count=${length}`, newest], { cwd }).pipe(
    Effect.map((output) => new Set(output.split("\n"))),
  );

/** The error message names the bundle, but a bundle of checkpoints is not kept. */
const problemOf = (error: SandduneError): string => {
  if (!(error instanceof ImportRefusedError)) return error.message;
  const [said = ""] = error.output.trimStart().split("\n", 1);
  return `${error.problem}. ${said.slice(0, MAX_SAID)}`.trimEnd();
};

/**
 * Creates refs for the checkpoints that the host has recorded: the bundle must contain the last one, whose ancestors
 * are the others. Any other commit that the sandbox declares as a checkpoint is ignored. Problems with checkpoints do
 * not fail the import of commits.
 */
export const importCheckpoints = Effect.fnUntraced(function* (
  { cwd, runId, base }: { readonly cwd: string; readonly runId: string; readonly base: string },
  taken: readonly Checkpoint[],
  /** Stores the bundle of the checkpoints, and resolves with its refs. */
  storeBundle: Effect.Effect<ReadonlyMap<string, string>, SandduneError>,
): Effect.fn.Return<ImportedCheckpoints> {
  const newest = taken.at(-1);
  if (newest === undefined) return { heads: [], warnings: [] };
  const lost = (count: number) =>
    count === 0
      ? []
      : [
          `${count} of ${taken.length} checkpoints were not imported: a process in the sandbox has changed or removed them.`,
        ];
  const hold = Effect.fnUntraced(function* (): Effect.fn.Return<ImportedCheckpoints, SandduneError> {
    const offered = (yield* storeBundle).get(SANDBOX_CHECKPOINT_REF);
    if (offered !== newest.sha) return { heads: [], warnings: lost(taken.length) };
    const chain = yield* chainOf(cwd, newest.sha, taken.length);
    const arrived = taken.filter(({ sha }) => chain.has(sha));
    yield* requireBoundedTrees(
      cwd,
      arrived.map(({ sha }) => ({ from: base, to: sha })),
      undefined,
    );
    yield* updateRefs(
      cwd,
      arrived.map(({ number, sha }) => ({ ref: checkpointRef(runId, number), to: sha })),
    );
    return { heads: [newest.sha], warnings: lost(taken.length - arrived.length) };
  });
  return yield* hold().pipe(
    Effect.catch((error) =>
      Effect.succeed({
        heads: [],
        warnings: [`The checkpoints could not be kept: ${problemOf(error)}`],
      }),
    ),
  );
});
