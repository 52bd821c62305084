import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import * as Effect from "effect/Effect";
import { WorktreeNotCleanError } from "../../commandErrors.ts";
import { configDirectoryPart } from "../../configDirectory.ts";
import type { SandduneError } from "../../errors.ts";
import { lockBranch } from "../../git/locks.ts";
import { listWorktrees, type RegisteredWorktree } from "../../git/worktreeList.ts";
import { isDirty } from "../../git/worktreeStatus.ts";
import { discardWorktree, removeWorktreeIfClean } from "../../git/worktrees.ts";
import { amendJournal } from "../journalFile.ts";
import { type RunRecord, runsWithin } from "../runRecord.ts";
import { type CleanScope, type Leftover, unlessNamed } from "./leftover.ts";

/** Several runs may have worked in a worktree, one after the other. */
const runsByWorktree = (runs: readonly RunRecord[]): Map<string, RunRecord[]> => {
  const byPath = new Map<string, RunRecord[]>();
  for (const run of runs) {
    for (const { what, name } of run.owns) {
      if (what === "worktree") byPath.set(name, [...(byPath.get(name) ?? []), run]);
    }
  }
  return byPath;
};

/** What would be lost with the worktree; `undefined` if nothing would. */
const workIn = (
  worktree: RegisteredWorktree,
  branch: string | undefined,
): Effect.Effect<string | undefined> => {
  if (worktree.branch !== branch) {
    return Effect.succeed(`it was switched to ${worktree.branch ?? "a detached HEAD"}`);
  }
  return isDirty(worktree.path).pipe(
    Effect.map((dirty) => (dirty ? "it holds changes that are not committed" : undefined)),
    Effect.catch((error: SandduneError) => Effect.succeed(`git cannot tell what is in it: ${error.message}`)),
  );
};

/** Why nobody but its other users may say that it can go. */
const reasonOfOthers = (
  { selected, runs, unsettled }: CleanScope,
  path: string,
  owners: readonly RunRecord[],
): string | undefined => {
  const atWork = owners
    .flatMap((owner) => [owner, ...runsWithin(runs, owner)])
    .find(({ runId }) => unsettled.has(runId));
  if (atWork !== undefined) return `the sandbox of run ${atWork.runId} may still be at work in it`;
  const latest = runsByWorktree(runs).get(path)?.at(-1);
  return latest === undefined || selected.includes(latest)
    ? undefined
    : `run ${latest.runId} has worked in it since`;
};

const findWorktree = Effect.fnUntraced(function* (
  scope: CleanScope,
  path: string,
  owners: readonly RunRecord[],
  registered: readonly RegisteredWorktree[],
): Effect.fn.Return<Leftover | undefined> {
  const { repository, namedBranches, namedRuns } = scope;
  const worktree = registered.find((candidate) => candidate.path === path);
  const status = lstatSync(path, { throwIfNoEntry: false });
  const isThere = status !== undefined;
  // What git does not know as a worktree is somebody else's, wherever it is.
  if (worktree === undefined) return undefined;
  const branch = owners.at(-1)?.branch;
  const runIds = owners.map(({ runId }) => runId);
  const isNamed =
    (branch !== undefined && namedBranches.has(branch)) || runIds.some((runId) => namedRuns.has(runId));
  const work = status?.isDirectory() ? yield* workIn(worktree, branch) : undefined;
  const others =
    isThere && !status.isDirectory() ? "it is no directory" : reasonOfOthers(scope, path, owners);
  const keep = others === undefined ? unlessNamed(isNamed, work) : { keptBecause: others };
  if (keep.keptBecause === undefined) scope.goneWorktrees.add(path);
  const remove = Effect.scoped(
    Effect.gen(function* () {
      // No run can take it over while it goes.
      if (branch !== undefined) yield* lockBranch(repository, branch, "to be cleaned up");
      if (isNamed || !isThere) yield* discardWorktree(repository, path);
      else if (!(yield* removeWorktreeIfClean(repository, path))) {
        return yield* Effect.fail(new WorktreeNotCleanError(path));
      }
      for (const { runDirectory } of owners) {
        amendJournal(runDirectory, { type: "removed", what: "worktree", name: path });
      }
    }),
  );
  return {
    what: "worktree",
    name: path,
    runIds,
    detail: [
      branch !== undefined && `of branch ${branch}`,
      !isThere && "its directory is gone",
      isThere && work === undefined && "clean",
    ]
      .filter(Boolean)
      .join(", "),
    ...keep,
    remove,
  };
});

/** Worktrees below `.sanddune/worktrees/` in which no run works any more. */
export const findWorktrees = Effect.fnUntraced(function* (
  scope: CleanScope,
): Effect.fn.Return<Leftover[], SandduneError> {
  const { repository, selected, runs } = scope;
  const directory = configDirectoryPart(repository.configDirectory, "worktrees");
  const inUse = runsByWorktree(runs.filter(({ state }) => state === "running"));
  const candidates = [...runsByWorktree(selected)].filter(
    ([path]) => dirname(path) === directory && !inUse.has(path),
  );
  if (candidates.length === 0) return [];
  const registered = yield* listWorktrees(repository.topLevel);
  const found = yield* Effect.forEach(
    candidates,
    ([path, owners]) => findWorktree(scope, path, owners, registered),
    { concurrency: 4 },
  );
  return found.filter((leftover) => leftover !== undefined);
});
