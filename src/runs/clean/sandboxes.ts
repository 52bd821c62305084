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
    // A run that ended properly has tried to close the sandbox, and reported it if that failed.
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
    found.holdsWork ? "the agent's latest work may exist only there" : undefined,
  );
  // Work that only the sandbox may hold is imported before the removal, if the sandbox can be reopened.
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

/** Finds sandboxes that the journals name: containers, directories, sandboxes of services. */
export const findSandboxes = (scope: CleanScope): Effect.Effect<Leftover[]> =>
  Effect.forEach(
    scope.selected.flatMap((run) => sandboxesOf(run).map((sandbox) => ({ run, sandbox }))),
    ({ run, sandbox }) => findSandbox(scope, run, sandbox),
    { concurrency: 8 },
  ).pipe(Effect.map((found) => found.filter((leftover) => leftover !== undefined)));
