import * as Effect from "effect/Effect";
import { DeadRunError, type SandduneError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { sandduneWords } from "../../process/ownCommand/sandduneCommand.ts";
import type { OwnedThing } from "../journal/ownedThings.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import type { StoredRun } from "../storedRun.ts";
import { leftProcessesOf } from "./hostProcesses.ts";
import { findLeftSandbox, type SandboxState, sandboxesOf } from "./leftSandbox.ts";

/** What happened to the processes and sandboxes that a run left running. */
export interface EndedSurvivors {
  /** What was done, in sentences. */
  readonly told: readonly string[];
  /** Which sandboxes may hold work but are unreachable, as a sentence; `undefined` if there are none. */
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

const mayBeRunning = ({ runId, sandbox }: StoredRun, name: string, problem: string) =>
  new DeadRunError(runId, `its ${sandbox} sandbox ${name}`, problem, [
    ...(sandbox === "docker" || sandbox === "podman" ? [[sandbox, "rm", "--force", name]] : []),
    sandduneWords("rescue", runId),
  ]);

/** Ends a sandbox and verifies that it is gone. */
const endSandbox = Effect.fnUntraced(function* (
  repository: Repository,
  run: StoredRun,
  thing: OwnedThing,
  found: Extract<SandboxState, { state: "found" }>,
): Effect.fn.Return<string, SandduneError> {
  yield* found.remove.pipe(Effect.mapError((error) => mayBeRunning(run, thing.name, error.message)));
  const now = yield* findLeftSandbox(repository, run, thing);
  if (now.state !== "gone") {
    const problem = now.state === "unknown" ? now.problem : "it still exists after its removal";
    return yield* Effect.fail(mayBeRunning(run, thing.name, problem));
  }
  return `Ended the sandbox that run ${run.runId} had left: ${found.description}.`;
});

/** Imports the work that only the sandbox holds. Returns the reason if that is impossible. */
const fetchWork = (
  { runId, branch = "HEAD" }: StoredRun,
  { description, fetch }: Extract<SandboxState, { state: "found" }>,
  told: string[],
): Effect.Effect<string | undefined> => {
  const alone = `the agent's latest work may exist only in ${description}`;
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
 * Ends everything that a run may have left running: processes of host hooks, and sandboxes. Work that only a sandbox holds
 * is imported first. If that is impossible the sandbox keeps running: it has its own files and cannot reach the checkout.
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
      // The run has tried to close the sandbox, and reported it if that failed.
    } else if (run.work?.isIsolated) {
      outOfReach.push(
        `the agent's latest work may exist only in its sandbox ${thing.name}: ${found.problem}`,
      );
    } else {
      return yield* Effect.fail(mayBeRunning(run, thing.name, found.problem));
    }
  }
  return { told, outOfReach: outOfReach.length === 0 ? undefined : outOfReach.join(", and ") };
});
