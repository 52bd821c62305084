import * as Effect from "effect/Effect";
import { ImportRefusedError, type SandduneError } from "../../../errors.ts";
import { gitText } from "../../git.ts";
import { updateRefs } from "../../refs.ts";
import { checkpointRef, SANDBOX_CHECKPOINT_REF } from "../../runRefs.ts";
import type { Checkpoint } from "../../snapshots/checkpoint.ts";
import { requireBoundedTrees } from "./measureTrees.ts";

const MAX_SAID = 300;

/** What came of checkpoints that were to be kept. */
export interface ImportedCheckpoints {
  /** The last one, if it has arrived: all others are behind it. */
  readonly heads: readonly string[];
  /** What could not be kept. */
  readonly warnings: readonly string[];
}

/** Checkpoints behind one another, the newest first. */
const chainOf = (cwd: string, newest: string, length: number): Effect.Effect<Set<string>, SandduneError> =>
  gitText(["rev-list", "--first-parent", `--max-count=${length}`, newest], { cwd }).pipe(
    Effect.map((output) => new Set(output.split("\n"))),
  );

/** Of a refused import of commits, the message says where their bundle is; that of checkpoints does not stay. */
const problemOf = (error: SandduneError): string => {
  if (!(error instanceof ImportRefusedError)) return error.message;
  const [said = ""] = error.output.trimStart().split("\n", 1);
  return `${error.problem}. ${said.slice(0, MAX_SAID)}`.trimEnd();
};

/**
 * Gives checkpoints that have arrived refs of the run's own. They are those that the host was told of when they were taken: the
 * last one is what their bundle offers by that name, the others are behind it. Whatever else the sandbox calls a
 * checkpoint is none. Nothing that is wrong with them is a problem of the commits.
 */
export const importCheckpoints = Effect.fnUntraced(function* (
  { cwd, runId, base }: { readonly cwd: string; readonly runId: string; readonly base: string },
  taken: readonly Checkpoint[],
  /** Takes their bundle over, and gives the refs that it offers. */
  storeBundle: Effect.Effect<ReadonlyMap<string, string>, SandduneError>,
): Effect.fn.Return<ImportedCheckpoints> {
  const newest = taken.at(-1);
  if (newest === undefined) return { heads: [], warnings: [] };
  const lost = (count: number) =>
    count === 0
      ? []
      : [
          `${count} of ${taken.length} checkpoints did not arrive: something in the sandbox has changed or removed them.`,
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
