import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { WorktreeNotCleanError } from "../../errors/commandErrors.ts";
import { HostFileError, type SandduneError } from "../../errors.ts";
import { lockBranch, lockWorktrees } from "../../git/locks/locks.ts";
import { unfinishedRemovals } from "../../git/worktrees/removeWorktree.ts";
import { listWorktrees, type RegisteredWorktree } from "../../git/worktrees/worktreeList.ts";
import { isDirty } from "../../git/worktrees/worktreeStatus.ts";
import { discardWorktree, removeWorktreeIfClean } from "../../git/worktrees/worktrees.ts";
import { configDirectoryPart } from "../../options/configDirectory.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import { inspectWorktree, type WorktreeState, worthlessBecause } from "../recover/unfinishedWorktrees.ts";
import { runsWithin, type StoredRun } from "../storedRun.ts";
import { type CleanScope, type Leftover, unlessNamed } from "./leftover.ts";

const runsByWorktree = (runs: readonly StoredRun[]): Map<string, StoredRun[]> => {
  const byPath = new Map<string, StoredRun[]>();
  for (const run of runs) {
    for (const { what, name } of run.owns) {
      if (what === "worktree") byPath.set(name, [...(byPath.get(name) ?? []), run]);
    }
  }
  return byPath;
};

/** Describes the work that would be lost with the worktree; `undefined` if there is none. */
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

/** Describes a worktree that holds no work. */
const describeState = (found: WorktreeState): string => {
  if (found.state === "worthless") return worthlessBecause[found.because];
  return found.state === "none" ? "its directory is gone" : "clean";
};

/** Why the worktree must stay because of a run that was not selected, or that may still be active. */
const reasonOfOthers = (
  { selected, runs, unsettled }: CleanScope,
  path: string,
  owners: readonly StoredRun[],
): string | undefined => {
  const atWork = owners
    .flatMap((owner) => [owner, ...runsWithin(runs, owner)])
    .find(({ runId }) => unsettled.has(runId));
  if (atWork !== undefined) return `the sandbox of run ${atWork.runId} may still be running in it`;
  const latest = runsByWorktree(runs).get(path)?.at(-1);
  return latest === undefined || selected.includes(latest)
    ? undefined
    : `run ${latest.runId} has worked in it since`;
};

/** Why a preview cannot tell: a run would be recovered first. */
const reasonOfUnrecovered = (
  { unrecovered, runs }: CleanScope,
  owners: readonly StoredRun[],
): string | undefined => {
  const dead = owners
    .flatMap((owner) => [owner, ...runsWithin(runs, owner)])
    .find(({ runId }) => unrecovered.has(runId));
  return (
    dead &&
    `the work of run ${dead.runId} would be rescued first; whether the worktree is clean then is unknown`
  );
};

/** The reason to keep a worktree as far as its own state is concerned. An empty one gets the files of a dead run when that is recovered. */
const reasonOfState = Effect.fnUntraced(function* (
  scope: CleanScope,
  found: WorktreeState,
  worktree: RegisteredWorktree | undefined,
  owners: readonly StoredRun[],
): Effect.fn.Return<string | undefined> {
  if (found.state === "kept") return found.reason;
  const isWhole = found.state === "whole" && worktree !== undefined;
  const isEmpty = found.state === "worthless" && found.because === "empty";
  const unrecovered = isWhole || isEmpty ? reasonOfUnrecovered(scope, owners) : undefined;
  if (unrecovered !== undefined || !isWhole) return unrecovered;
  return yield* workIn(worktree, owners.at(-1)?.branch);
});

const findWorktree = Effect.fnUntraced(function* (
  scope: CleanScope,
  path: string,
  owners: readonly StoredRun[],
  registered: readonly RegisteredWorktree[],
): Effect.fn.Return<Leftover | undefined, SandduneError> {
  const { repository, namedBranches, namedRuns } = scope;
  const branch = owners.at(-1)?.branch;
  if (branch === undefined) return undefined;
  const worktree = registered.find((candidate) => candidate.path === path);
  const place = { path, branch, owners };
  const found = yield* inspectWorktree(repository, place);
  // A directory that git does not list may still be the rest of a worktree.
  if (worktree === undefined && (found.state === "none" || found.state === "whole")) return undefined;
  const runIds = owners.map(({ runId }) => runId);
  const isNamed = namedBranches.has(branch) || runIds.some((runId) => namedRuns.has(runId));
  const work = yield* reasonOfState(scope, found, worktree, owners);
  const others =
    lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false
      ? "it is not a directory"
      : reasonOfOthers(scope, path, owners);
  const keep = others === undefined ? unlessNamed(isNamed, work) : { keptBecause: others };
  if (keep.keptBecause === undefined) scope.goneWorktrees.add(path);
  const remove = Effect.scoped(
    Effect.gen(function* () {
      // No run can take it over during its removal.
      yield* lockBranch(repository, branch, "to be cleaned up");
      const { isRemoved, undeletable } =
        isNamed || found.state !== "whole"
          ? yield* discardWorktree(repository, path)
          : yield* removeWorktreeIfClean(repository, path);
      if (!isRemoved) return yield* Effect.fail(new WorktreeNotCleanError(path));
      for (const { runDirectory } of owners) {
        amendJournal(runDirectory, { type: "removed", what: "worktree", name: path });
      }
      if (undeletable !== undefined)
        return yield* Effect.fail(new HostFileError("EACCES", undeletable, { cause: undefined }));
    }),
  );
  return {
    what: "worktree",
    name: path,
    runIds,
    detail: [`of branch ${branch}`, work === undefined ? describeState(found) : ""]
      .filter(Boolean)
      .join(", "),
    ...keep,
    remove,
  };
});

/** Finds worktrees below `.sanddune/worktrees/` that no running run uses. */
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
  // Git may be unable to list worktrees because of an unfinished one, which a preview does not remove.
  const registered = yield* Effect.catch(listWorktrees(repository.topLevel), () => Effect.succeed([]));
  const found = yield* Effect.forEach(
    candidates,
    ([path, owners]) => findWorktree(scope, path, owners, registered),
    { concurrency: 4 },
  );
  return found.filter((leftover) => leftover !== undefined);
});

/** Finds the rest of worktrees whose removal was interrupted. */
export const findUnfinishedRemovals = ({ repository, namedRuns, namedBranches }: CleanScope): Leftover[] =>
  namedRuns.size + namedBranches.size > 0
    ? []
    : unfinishedRemovals(repository).map((path) => ({
        what: "worktree",
        name: path,
        runIds: [],
        detail: "its removal was interrupted",
        remove: Effect.scoped(
          Effect.andThen(
            lockWorktrees(repository),
            interruptible(() => removeDirectory(path)),
          ),
        ),
      }));
