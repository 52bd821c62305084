import { createHash } from "node:crypto";
import { join } from "node:path";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { BranchInUseError, LockTimeoutError } from "../../errors.ts";
import type { Repository } from "../repository.ts";
import { describeOwner, type LockOwner, readOwner, tryLock } from "./lockFile.ts";

const RETRY_MS = 20;
/** Whether an owner is still alive takes more work to find out than whether there is one. */
const LIVENESS_CHECK_MS = 500;
/** How long one owner may keep others waiting. However many come before, each that makes way starts the time anew. */
const LOCK_TIMEOUT_MS = 5 * 60_000;

const now: Effect.Effect<number> = Clock.monotonicTimeNanos.pipe(
  Effect.map((nanoseconds) => Number(nanoseconds / 1_000_000n)),
);

export const locksDirectory = ({ commonDirectory }: Repository): string =>
  join(commonDirectory, "sanddune", "locks");

const lockPath = (repository: Repository, name: string): string =>
  join(locksDirectory(repository), `${name}.lock`);

/** Branch names are hashed: they may be longer than a file name, or differ only in case. */
const branchLockName = (branch: string): string =>
  `branch-${createHash("sha256").update(branch).digest("hex").slice(0, 20)}`;

/** Holds the branch for this run session; fails at once when another one has it. */
export const lockBranch = (
  repository: Repository,
  branch: string,
  runId: string,
): Effect.Effect<void, BranchInUseError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const path = lockPath(repository, branchLockName(branch));
      const attempt = tryLock(path, `run ${runId} on branch ${branch}`);
      return attempt.acquired
        ? Effect.succeed(attempt)
        : Effect.fail(
            new BranchInUseError(
              branch,
              describeOwner(attempt.owner),
              `Wait for it, or use another branch. If it is not running any more, remove ${path}`,
            ),
          );
    }),
    (lock) => Effect.sync(lock.release),
  );

const isSameTurn = (one: LockOwner | undefined, other: LockOwner | undefined): boolean =>
  one?.purpose === other?.purpose && one?.since === other?.since && one?.pid === other?.pid;

/** Waits for a lock of the repository, and holds it until the scope is closed. */
const lockRepository = Effect.fnUntraced(function* (
  repository: Repository,
  name: string,
  purpose: string,
): Effect.fn.Return<void, LockTimeoutError, Scope.Scope> {
  const path = lockPath(repository, name);
  let release = () => {};
  // Registered before the first attempt, so that no interruption can come between taking the lock and owning it.
  yield* Effect.addFinalizer(() => Effect.sync(() => release()));
  let waitedFor: LockOwner | undefined;
  let since = yield* now;
  let checkAt = since;
  for (;;) {
    const time = yield* now;
    const owner = readOwner(path);
    if (owner === undefined || time >= checkAt) {
      const attempt = tryLock(path, purpose);
      if (attempt.acquired) {
        release = attempt.release;
        return;
      }
      checkAt = time + LIVENESS_CHECK_MS;
    }
    if (!isSameTurn(owner, waitedFor)) {
      waitedFor = owner;
      since = time;
    }
    if (time - since >= LOCK_TIMEOUT_MS) {
      return yield* Effect.fail(new LockTimeoutError(path, describeOwner(owner), LOCK_TIMEOUT_MS));
    }
    yield* Effect.sleep(RETRY_MS);
  }
});

/** Serializes what changes the user's checkouts and target branches: one merge at a time in a repository. */
export const lockMerges = (repository: Repository, runId: string) =>
  lockRepository(repository, "merge", `run ${runId}, merging`);

/** Serializes cleaning up: what one has found another may have removed meanwhile. */
export const lockCleaning = (repository: Repository) => lockRepository(repository, "clean", "cleaning up");

/** Serializes what adds or removes worktrees: git does not cope with several of these at a time. */
export const lockWorktrees = (repository: Repository) =>
  lockRepository(repository, "worktrees", "adding or removing a worktree");

/** Holds the right to put pack files together, unless another process has it: then nothing is left to do. */
export const tryLockPacking = (repository: Repository): Effect.Effect<boolean, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => tryLock(lockPath(repository, "packing"), "putting pack files together")),
    (attempt) => Effect.sync(() => attempt.acquired && attempt.release()),
  ).pipe(Effect.map(({ acquired }) => acquired));
