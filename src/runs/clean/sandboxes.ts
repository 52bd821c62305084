import * as Effect from "effect/Effect";
import type { OwnedThing } from "../ownedThings.ts";
import { findLeftSandbox, sandboxesOf } from "../recover/leftSandbox.ts";
import type { RunRecord } from "../runRecord.ts";
import { type CleanScope, type Leftover, unlessNamed } from "./leftover.ts";

const findSandbox = Effect.fnUntraced(function* (
  scope: CleanScope,
  run: RunRecord,
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
  if (keep.keptBecause !== undefined) scope.unsettled.add(runId);
  return {
    what: "sandbox",
    name: found.description,
    runIds: [runId],
    detail: run.state === "dead" ? "its process is dead" : "it could not be closed",
    ...keep,
    remove: found.remove,
  };
});

/** Containers, and directories that are sandboxes. */
export const findSandboxes = (scope: CleanScope): Effect.Effect<Leftover[]> =>
  Effect.forEach(
    scope.selected.flatMap((run) => sandboxesOf(run).map((sandbox) => ({ run, sandbox }))),
    ({ run, sandbox }) => findSandbox(scope, run, sandbox),
    { concurrency: 8 },
  ).pipe(Effect.map((found) => found.filter((leftover) => leftover !== undefined)));
