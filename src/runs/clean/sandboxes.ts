import { tmpdir } from "node:os";
import { dirname, relative } from "node:path";
import * as Effect from "effect/Effect";
import { journalPath } from "../../engine/journal.ts";
import { SandduneError } from "../../errors.ts";
import { isTracked } from "../../git/trackedFile.ts";
import { interruptible } from "../../process/interruptible.ts";
import type { LeftSandbox, SandboxLeftovers } from "../../sandboxes/leftovers.ts";
import { sandboxLeftovers } from "../../sandboxes/registry.ts";
import { amendJournal } from "../journalFile.ts";
import { isForTests, type OwnedThing } from "../ownedThings.ts";
import type { RunRecord } from "../runRecord.ts";
import { type CleanScope, type Leftover, unlessNamed } from "./leftover.ts";

const asError = (reason: unknown): SandduneError => reason as SandduneError;

/** The provider of a call in a sandbox that lasts is that sandbox's; it is told where the sandbox was made. */
const sandboxesOf = ({ owns }: RunRecord): OwnedThing[] => owns.filter(({ what }) => what === "sandbox");

/** Whoever cannot be asked may hold work. */
const mayHoldWork = ({ holdsWork }: SandboxLeftovers, left: LeftSandbox): Effect.Effect<boolean> =>
  typeof holdsWork === "boolean"
    ? Effect.succeed(holdsWork)
    : Effect.promise(() => holdsWork(left).catch(() => true));

/** Whether git tracks a run's journal: then it does not decide which machines are asked. */
const cameWithRepository = ({ repository }: CleanScope, runDirectory: string): Effect.Effect<boolean> => {
  // Journals are in the main checkout, whichever one this is.
  const checkout = dirname(repository.configDirectory);
  return isTracked(checkout, relative(checkout, journalPath(runDirectory))).pipe(
    Effect.catch(() => Effect.succeed(true)),
  );
};

const findSandbox = Effect.fnUntraced(function* (
  scope: CleanScope,
  run: RunRecord,
  { name: sandboxName, place }: OwnedThing,
): Effect.fn.Return<Leftover | undefined> {
  const { runId, runDirectory, sandbox = "" } = run;
  const known = sandboxLeftovers.get(sandbox);
  const unsure = (keptBecause: string): Leftover => {
    scope.unsettled.add(runId);
    return {
      what: "sandbox",
      name: sandboxName,
      runIds: [runId],
      detail: sandbox,
      keptBecause,
      remove: Effect.void,
    };
  };
  if (known === undefined) {
    // A run that has ended in order has at least tried to close it, and said so if it could not.
    if (run.state !== "dead") return undefined;
    return unsure(`sanddune does not know how to find the sandboxes of ${JSON.stringify(sandbox)}`);
  }
  if (place !== undefined && (yield* cameWithRepository(scope, runDirectory))) {
    return unsure("its journal is in git, so anybody can have written where the sandbox is");
  }
  const temporaryDirectory = run.temporaryDirectory ?? tmpdir();
  const left = { sandboxName, runId, temporaryDirectory, ...(place !== undefined && { place }) };
  const noteRemoval = () =>
    amendJournal(runDirectory, { type: "removed", what: "sandbox", name: sandboxName });
  const found = yield* Effect.exit(interruptible(() => known.find(left), asError));
  if (found._tag === "Failure") {
    const [reason] = found.cause.reasons;
    const error: unknown = reason !== undefined && "error" in reason ? reason.error : undefined;
    return unsure(error instanceof SandduneError ? error.message : "it could not be looked for");
  }
  if (found.value === undefined) return undefined;
  const holdsWork = !isForTests(sandboxName) && (yield* mayHoldWork(known, left));
  const keep = unlessNamed(
    scope.namedRuns.has(runId),
    holdsWork ? "what the agent did last may be there alone" : undefined,
  );
  if (keep.keptBecause !== undefined) scope.unsettled.add(runId);
  return {
    what: "sandbox",
    name: found.value,
    runIds: [runId],
    detail: run.state === "dead" ? "its process is dead" : "it could not be closed",
    ...keep,
    remove: interruptible(() => known.remove(left).then(noteRemoval), asError),
  };
});

/** Containers, and directories that are sandboxes. */
export const findSandboxes = (scope: CleanScope): Effect.Effect<Leftover[]> =>
  Effect.forEach(
    scope.selected.flatMap((run) => sandboxesOf(run).map((sandbox) => ({ run, sandbox }))),
    ({ run, sandbox }) => findSandbox(scope, run, sandbox),
    { concurrency: 8 },
  ).pipe(Effect.map((found) => found.filter((leftover) => leftover !== undefined)));
