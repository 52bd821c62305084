import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { providerError } from "../../sandboxes/handle/openHandle.ts";
import { findLeftovers } from "../../sandboxes/registry.ts";
import type { OwnedThing } from "../journal/ownedThings.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import { cameWithRepository } from "../recover/leftSandbox.ts";
import type { StoredRun } from "../storedRun.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

/** What is left of a snapshot, and why it cannot be removed yet. */
interface Left {
  readonly description: string;
  readonly use?: string | undefined;
}

const findSnapshot = Effect.fnUntraced(function* (
  scope: CleanScope,
  run: StoredRun,
  { name, place }: OwnedThing,
): Effect.fn.Return<Leftover | undefined> {
  const { runId, runDirectory, sandbox = "" } = run;
  const known = yield* Effect.promise(() => findLeftovers(sandbox));
  const find = known?.findSnapshot?.bind(known);
  const remove = known?.removeSnapshot?.bind(known);
  if (find === undefined || remove === undefined) return undefined;
  // Any commit may have written a journal that git tracks.
  if (yield* cameWithRepository(scope.repository, run)) return undefined;
  const snapshot = { name, runId, ...(place !== undefined && { place }) };
  const failed = (problem: string) => providerError(sandbox, problem);
  const leftover = { what: "snapshot", runIds: [runId], detail: "forks were started from it" } as const;
  const look = async (signal: AbortSignal): Promise<Left | undefined> => {
    const description = await find(snapshot, signal);
    return description === undefined
      ? undefined
      : { description, use: await known?.whySnapshotStays?.(snapshot, signal) };
  };
  const removing = async () => {
    await remove(snapshot);
    amendJournal(runDirectory, { type: "removed", what: "snapshot", name });
  };
  return yield* interruptible(look, failed("its snapshot could not be looked for")).pipe(
    Effect.match({
      onSuccess: (left): Leftover | undefined =>
        left && {
          ...leftover,
          name: left.description,
          ...(left.use !== undefined && { keptBecause: left.use }),
          remove: interruptible(removing, failed("its snapshot could not be removed")),
        },
      onFailure: ({ message }): Leftover => ({
        ...leftover,
        name,
        keptBecause: message,
        remove: Effect.void,
      }),
    }),
  );
});

/** Finds the snapshots that the journals name. Those in directories are files of their runs. */
export const findSnapshots = (scope: CleanScope): Effect.Effect<Leftover[]> =>
  Effect.forEach(
    scope.selected.flatMap((run) =>
      run.owns.filter(({ what }) => what === "snapshot").map((thing) => ({ run, thing })),
    ),
    ({ run, thing }) => findSnapshot(scope, run, thing),
    { concurrency: 8 },
  ).pipe(Effect.map((found) => found.filter((leftover) => leftover !== undefined)));
