import { createHash } from "node:crypto";
import { join } from "node:path";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { BranchInUseError, LockTimeoutError } from "../../errors.ts";
import type { Repository } from "../repository.ts";
import { describeOwner, type LockOwner, readOwner, tryLock } from "./lockFile.ts";

const RETRY_MS = 20;
/** Checking that an owner is alive costs more than checking that there is one. */
const LIVENESS_CHECK_MS = 500;
/** How long to wait for the same owner. The time starts again with each new owner. */
const LOCK_TIMEOUT_MS = 5 * 60_000;

const now: Effect.Effect<number> = Clock.monotonicTimeNanos.pipe(
  Effect.map((nanoseconds) => Number(nanoseconds / 1_000_000n)),
);

export const locksDirectory = ({ commonDirectory }: Repository): string =>
  join(commonDirectory, "sanddune", "locks");

const lockPath = (repository: Repository, name: string): string =>
  join(locksDirectory(repository), `${name}.lock`);

/** Hashed, because branch names may be longer than a file name, or differ only in case. */
const branchLockName = (branch: string): string =>
  `branch-${createHash("sha256").update(branch).digest("hex").slice(0, 20)}`;

/** Locks the branch for this run; fails at once if another run has it. */
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
              `Wait for it, or use another branch. If it has ended, remove ${path}`,
            ),
          );
    }),
    (lock) => Effect.sync(lock.release),
  );

const isSameTurn = (one: LockOwner | undefined, other: LockOwner | undefined): boolean =>
  one?.purpose === other?.purpose && one?.since === other?.since && one?.pid === other?.pid;

/** Waits for a lock of the repository, and keeps it until the scope is closed. */
const lockRepository = Effect.fnUntraced(function* (
  repository: Repository,
  name: string,
  purpose: string,
): Effect.fn.Return<void, LockTimeoutError, Scope.Scope> {
  const path = lockPath(repository, name);
  let release = () => {};
  // Before the first attempt, so that no interruption comes between taking the lock and registering its release.
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

/** Serializes merges, which change the user's checkouts and target branches. */
export const lockMerges = (repository: Repository, runId: string) =>
  lockRepository(repository, "merge", `run ${runId}, merging`);

/** Serializes cleaning, because one process would remove what another has listed. */
export const lockCleaning = (repository: Repository) => lockRepository(repository, "clean", "cleaning up");

/** Serializes adding and removing worktrees, which git does not support concurrently. */
export const lockWorktrees = (repository: Repository) =>
  lockRepository(repository, "worktrees", "adding or removing a worktree");

/** Serializes making, choosing and removing shared checkouts: none disappears before a run has noted that it uses it. */
export const lockSharedCheckouts = (repository: Repository) =>
  lockRepository(repository, "checkouts", "choosing a shared checkout");

/** Locks repacking, unless another process is repacking already. */
export const tryLockPacking = (repository: Repository): Effect.Effect<boolean, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => tryLock(lockPath(repository, "packing"), "putting pack files together")),
    (attempt) => Effect.sync(() => attempt.acquired && attempt.release()),
  ).pipe(Effect.map(({ acquired }) => acquired));
