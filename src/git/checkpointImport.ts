import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { gitText } from "./git.ts";
import { updateRefs } from "./refs.ts";
import { checkpointRef, SANDBOX_CHECKPOINT_REF } from "./runRefs.ts";

/** Checkpoints behind one another, the newest first. */
const chainOf = (cwd: string, newest: string, length: number): Effect.Effect<Set<string>, SandduneError> =>
  gitText(["rev-list", "--first-parent", `--max-count=${length}`, newest], { cwd }).pipe(
    Effect.map((output) => new Set(output.split("\n"))),
  );

/**
 * Gives checkpoints that have arrived refs of the run's own. They are those that the host was told of when they were taken: the
 * last one is what the bundle offers by that name, the others are behind it. Whatever else the sandbox calls a
 * checkpoint is none. Resolves with what could not be kept, in sentences.
 */
export const holdCheckpoints = Effect.fnUntraced(function* (
  { cwd, runId }: { readonly cwd: string; readonly runId: string },
  heads: ReadonlyMap<string, string>,
  taken: readonly Checkpoint[],
): Effect.fn.Return<string[]> {
  const newest = taken.at(-1);
  if (newest === undefined) return [];
  const lost = (count: number) => [
    `${count} of ${taken.length} checkpoints did not arrive: something in the sandbox has changed or removed them.`,
  ];
  if (heads.get(SANDBOX_CHECKPOINT_REF) !== newest.sha) return lost(taken.length);
  return yield* chainOf(cwd, newest.sha, taken.length).pipe(
    Effect.flatMap((chain) => {
      const arrived = taken.filter(({ sha }) => chain.has(sha));
      const updates = arrived.map(({ number, sha }) => ({ ref: checkpointRef(runId, number), to: sha }));
      return Effect.as(
        updateRefs(cwd, updates),
        arrived.length === taken.length ? [] : lost(taken.length - arrived.length),
      );
    }),
    Effect.catch((error) => Effect.succeed([`The checkpoints could not be kept: ${error.message}`])),
  );
});
