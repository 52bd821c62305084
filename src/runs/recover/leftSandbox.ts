import { tmpdir } from "node:os";
import { dirname, relative } from "node:path";
import * as Effect from "effect/Effect";
import { asHostFileError } from "../../boundary/hostFileErrors.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { isTracked } from "../../git/trackedFile.ts";
import { openHandle, providerError } from "../../sandboxes/handle/openHandle.ts";
import type { LeftSandbox, SandboxLeftovers } from "../../sandboxes/leftovers.ts";
import { findLeftovers } from "../../sandboxes/registry.ts";
import { isForTests, type OwnedThing } from "../journal/ownedThings.ts";
import { journalPath } from "../journal/runDirectory.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import type { StoredRun } from "../storedRun.ts";
import { type FetchedWork, fetchLeftWork } from "./fetchLeftWork.ts";

/** What is known about a sandbox that its run has not closed. */
export type SandboxState =
  | { readonly state: "gone" }
  /** It may still be running. */
  | { readonly state: "unknown"; readonly problem: string; readonly isProviderKnown: boolean }
  | {
      readonly state: "found";
      readonly description: string;
      /** The agent's work may exist only in it. */
      readonly holdsWork: boolean;
      /** Imports its work. The caller holds the lock of the run's branch. `undefined` if it cannot be reopened. */
      readonly fetch: Effect.Effect<FetchedWork | undefined, SandduneError> | undefined;
      readonly remove: Effect.Effect<void, SandduneError>;
    };

/** A sandbox that does not answer may hold work. */
const mayHoldWork = ({ holdsWork }: SandboxLeftovers, left: LeftSandbox): Effect.Effect<boolean> =>
  typeof holdsWork === "boolean"
    ? Effect.succeed(holdsWork)
    : Effect.promise(() => holdsWork(left).catch(() => true));

/** Whether git tracks the journal of a run: then any commit may have written it. */
export const cameWithRepository = (
  { configDirectory }: Repository,
  { runDirectory }: StoredRun,
): Effect.Effect<boolean> => {
  // Journals are in the main checkout, even if this is another one.
  const checkout = dirname(configDirectory);
  return isTracked(checkout, relative(checkout, journalPath(runDirectory))).pipe(
    Effect.catch(() => Effect.succeed(true)),
  );
};

export const sandboxesOf = ({ owns }: StoredRun): OwnedThing[] =>
  owns.filter(({ what }) => what === "sandbox");

const fetchFrom = (
  repository: Repository,
  run: StoredRun,
  { reopen }: SandboxLeftovers,
  left: LeftSandbox,
): Effect.Effect<FetchedWork | undefined, SandduneError> | undefined =>
  reopen &&
  Effect.acquireUseRelease(
    interruptible(() => openHandle({ name: run.sandbox ?? "", type: "isolated" }, () => reopen(left))),
    (handle) => fetchLeftWork(repository, run, handle),
    (handle) => Effect.promise(() => handle.close().catch(() => {})),
  );

/** Looks for a sandbox that a run created and has not closed. */
export const findLeftSandbox = Effect.fnUntraced(function* (
  repository: Repository,
  run: StoredRun,
  { name: sandboxName, place }: OwnedThing,
): Effect.fn.Return<SandboxState> {
  const { runId, runDirectory, sandbox = "" } = run;
  const known = yield* Effect.promise(() => findLeftovers(sandbox));
  if (known === undefined) {
    const problem = `sanddune cannot look for sandboxes of the provider ${JSON.stringify(sandbox)}. If it is your own provider and supports \`leftovers\`, pass its module with --sandbox`;
    return { state: "unknown", problem, isProviderKnown: false };
  }
  const unknown = (problem: string): SandboxState => ({ state: "unknown", problem, isProviderKnown: true });
  if (place !== undefined && (yield* cameWithRepository(repository, run))) {
    return unknown("git tracks its journal, so any commit may have written the location of the sandbox");
  }
  const temporaryDirectory = run.temporaryDirectory ?? tmpdir();
  const left = { sandboxName, runId, temporaryDirectory, ...(place !== undefined && { place }) };
  const failed = (problem: string) => (reason: unknown) =>
    asHostFileError(reason) ?? providerError(sandbox, problem)(reason);
  const found = yield* interruptible(
    (signal) => known.find(left, signal),
    failed("it could not be looked for"),
  ).pipe(
    Effect.match({
      onSuccess: (description) => ({ description }),
      onFailure: ({ message }) => ({ problem: message }),
    }),
  );
  if ("problem" in found) return unknown(found.problem);
  const { description } = found;
  if (description === undefined) return { state: "gone" };
  const noteRemoval = () =>
    amendJournal(runDirectory, { type: "removed", what: "sandbox", name: sandboxName });
  const holdsWork = !isForTests(sandboxName) && !run.isUnfinishedCopy && (yield* mayHoldWork(known, left));
  return {
    state: "found",
    description,
    holdsWork,
    fetch: holdsWork ? fetchFrom(repository, run, known, left) : undefined,
    remove: interruptible(() => known.remove(left).then(noteRemoval), failed("it could not be removed")),
  };
});
