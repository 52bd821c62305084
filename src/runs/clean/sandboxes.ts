import { tmpdir } from "node:os";
import * as Effect from "effect/Effect";
import { SandduneError } from "../../errors.ts";
import { interruptible } from "../../process/interruptible.ts";
import { sandboxLeftovers } from "../../sandboxes/leftovers.ts";
import { amendJournal } from "../journalFile.ts";
import type { RunRecord } from "../runRecord.ts";
import { type CleanScope, type Leftover, unlessNamed } from "./leftover.ts";

const asError = (reason: unknown): SandduneError => reason as SandduneError;

/** The provider of a call in a sandbox that lasts is that sandbox's; it is told where the sandbox was made. */
const sandboxesOf = ({ owns }: RunRecord): string[] =>
  owns.filter(({ what }) => what === "sandbox").map(({ name }) => name);

const findSandbox = Effect.fnUntraced(function* (
  scope: CleanScope,
  run: RunRecord,
  sandboxName: string,
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
  const left = { sandboxName, runId, temporaryDirectory: run.temporaryDirectory ?? tmpdir() };
  const noteRemoval = () =>
    amendJournal(runDirectory, { type: "removed", what: "sandbox", name: sandboxName });
  const found = yield* Effect.exit(interruptible(() => known.find(left), asError));
  if (found._tag === "Failure") {
    const [reason] = found.cause.reasons;
    const error: unknown = reason !== undefined && "error" in reason ? reason.error : undefined;
    return unsure(error instanceof SandduneError ? error.message : "it could not be looked for");
  }
  if (found.value === undefined) return undefined;
  const keep = unlessNamed(
    scope.namedRuns.has(runId),
    known.holdsWork ? "what the agent did last may be there alone" : undefined,
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
    scope.selected.flatMap((run) => sandboxesOf(run).map((name) => ({ run, name }))),
    ({ run, name }) => findSandbox(scope, run, name),
    { concurrency: 8 },
  ).pipe(Effect.map((found) => found.filter((leftover) => leftover !== undefined)));
