import * as Effect from "effect/Effect";
import { DeadRunError, type SandduneError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { sandduneWords } from "../../process/ownCommand/sandduneCommand.ts";
import type { OwnedThing } from "../journal/ownedThings.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import type { StoredRun } from "../storedRun.ts";
import { leftProcessesOf } from "./hostProcesses.ts";
import { findLeftSandbox, type SandboxState, sandboxesOf } from "./leftSandbox.ts";

/** What became of what a run had left at work. */
export interface EndedSurvivors {
  /** In sentences. */
  readonly told: readonly string[];
  /** Sandboxes that may hold work and cannot be reached, in a sentence; `undefined` if there are none. */
  readonly outOfReach: string | undefined;
}

const endProcesses = Effect.fnUntraced(function* (run: StoredRun): Effect.fn.Return<string[], SandduneError> {
  const told: string[] = [];
  for (const { pids, end } of leftProcessesOf(run)) {
    yield* end;
    told.push(`Ended processes that a host hook of run ${run.runId} had left running: ${pids.join(", ")}.`);
  }
  const survivors = leftProcessesOf(run).flatMap(({ pids }) => pids.map(String));
  if (survivors.length === 0) return told;
  const problem = "they could not be killed";
  return yield* Effect.fail(
    new DeadRunError(run.runId, `processes ${survivors.join(", ")}`, problem, [["kill", "-9", ...survivors]]),
  );
});

const mayBeAtWork = ({ runId, sandbox }: StoredRun, name: string, problem: string) =>
  new DeadRunError(runId, `its ${sandbox} sandbox ${name}`, problem, [
    ...(sandbox === "docker" || sandbox === "podman" ? [[sandbox, "rm", "--force", name]] : []),
    sandduneWords("rescue", runId),
  ]);

/** Ends a sandbox, and makes sure that it is gone. */
const endSandbox = Effect.fnUntraced(function* (
  repository: Repository,
  run: StoredRun,
  thing: OwnedThing,
  found: Extract<SandboxState, { state: "found" }>,
): Effect.fn.Return<string, SandduneError> {
  yield* found.remove.pipe(Effect.mapError((error) => mayBeAtWork(run, thing.name, error.message)));
  const now = yield* findLeftSandbox(repository, run, thing);
  if (now.state !== "gone") {
    const problem = now.state === "unknown" ? now.problem : "it was to be removed, and is still there";
    return yield* Effect.fail(mayBeAtWork(run, thing.name, problem));
  }
  return `Ended the sandbox that run ${run.runId} had left: ${found.description}.`;
});

/** Imports what a sandbox alone holds. Gives the reason if that is impossible. */
const fetchWork = (
  { runId, branch = "HEAD" }: StoredRun,
  { description, fetch }: Extract<SandboxState, { state: "found" }>,
  told: string[],
): Effect.Effect<string | undefined> => {
  const alone = `what its agent did last may be in ${description} alone`;
  if (fetch === undefined) return Effect.succeed(alone);
  return fetch.pipe(
    Effect.map((fetched) => {
      if (fetched !== undefined && fetched.before !== fetched.tip)
        told.push(`Imported the commits of run ${runId} from ${description} onto ${branch}.`);
      told.push(...(fetched?.warnings ?? []));
      return undefined;
    }),
    Effect.catch((error: SandduneError) => Effect.succeed(`${alone}: ${error.message}`)),
  );
};

/**
 * Ends everything that a run may have left at work: processes of host hooks, and sandboxes. What a
 * sandbox alone holds is imported first. Where that is impossible the sandbox is left alone: it has files of its own, so that
 * nothing in it can reach the checkout.
 */
export const endSurvivors = Effect.fnUntraced(function* (
  repository: Repository,
  run: StoredRun,
  { sandboxIsGone }: { readonly sandboxIsGone: boolean },
): Effect.fn.Return<EndedSurvivors, SandduneError> {
  const told = run.state === "dead" ? yield* endProcesses(run) : [];
  const outOfReach: string[] = [];
  for (const thing of sandboxesOf(run)) {
    const found: SandboxState = sandboxIsGone
      ? { state: "gone" }
      : yield* findLeftSandbox(repository, run, thing);
    if (found.state === "found") {
      const problem = found.holdsWork ? yield* fetchWork(run, found, told) : undefined;
      if (problem === undefined) told.push(yield* endSandbox(repository, run, thing, found));
      else outOfReach.push(problem);
    } else if (found.state === "gone") {
      amendJournal(run.runDirectory, { type: "removed", what: "sandbox", name: thing.name });
    } else if (run.state !== "dead" && !found.isProviderKnown) {
      // It has at least tried to close it, and said so if it could not.
    } else if (run.work?.isIsolated) {
      outOfReach.push(`what its agent did last may be in its sandbox ${thing.name} alone: ${found.problem}`);
    } else {
      return yield* Effect.fail(mayBeAtWork(run, thing.name, found.problem));
    }
  }
  return { told, outOfReach: outOfReach.length === 0 ? undefined : outOfReach.join(", and ") };
});
