import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { OwnedThing } from "../journal/ownedThings.ts";
import { findLeftSandbox, sandboxesOf } from "../recover/leftSandbox.ts";
import { lockRun } from "../recover/recoverLocation.ts";
import type { StoredRun } from "../storedRun.ts";
import { type CleanScope, type Leftover, unlessNamed } from "./leftover.ts";

const findSandbox = Effect.fnUntraced(function* (
  scope: CleanScope,
  run: StoredRun,
  thing: OwnedThing,
): Effect.fn.Return<Leftover | undefined> {
  const { runId, sandbox = "" } = run;
  const found = yield* findLeftSandbox(scope.repository, run, thing);
  if (found.state === "gone") return undefined;
  if (found.state === "unknown") {
    // A run that has ended in order has at least tried to close it, and said so if it could not.
    if (!found.isProviderKnown && run.state !== "dead") return undefined;
    scope.unsettled.add(runId);
    return {
      what: "sandbox",
      name: thing.name,
      runIds: [runId],
      detail: sandbox,
      keptBecause: found.problem,
      remove: Effect.void,
    };
  }
  const keep = unlessNamed(
    scope.namedRuns.has(runId),
    found.holdsWork ? "what the agent did last may be there alone" : undefined,
  );
  // What a sandbox alone may hold is imported before it is removed, wherever it can be opened again.
  const fetchFirst: Effect.Effect<unknown, SandduneError> | undefined =
    found.fetch && Effect.scoped(Effect.andThen(lockRun(scope.repository, run), found.fetch));
  if (keep.keptBecause !== undefined) scope.unsettled.add(runId);
  return {
    what: "sandbox",
    name: found.description,
    runIds: [runId],
    detail: run.state === "dead" ? "its process is dead" : "it could not be closed",
    ...keep,
    remove: fetchFirst === undefined ? found.remove : Effect.andThen(fetchFirst, found.remove),
  };
});

/** Containers, and directories that are sandboxes. */
export const findSandboxes = (scope: CleanScope): Effect.Effect<Leftover[]> =>
  Effect.forEach(
    scope.selected.flatMap((run) => sandboxesOf(run).map((sandbox) => ({ run, sandbox }))),
    ({ run, sandbox }) => findSandbox(scope, run, sandbox),
    { concurrency: 8 },
  ).pipe(Effect.map((found) => found.filter((leftover) => leftover !== undefined)));
