import { copyFileSync, readdirSync } from "node:fs";
import { chmod, lstat, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { BranchInUseError, type SandduneError } from "../../errors.ts";
import { leaveOutRepositories } from "../../git/nestedRepositories/leaveOut.ts";
import type { Repository } from "../../git/repository.ts";
import { type SourceBranch, worktreePathOf } from "../../git/worktrees/worktrees.ts";
import { copyTree } from "../../process/copyTree.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import type { Session } from "../session/session.ts";
import type { CheckoutSession } from "./checkoutSession.ts";
import { disarmRepositories } from "./cleanUpAfterAgent.ts";

/** A worktree at the path of a new branch holds what an earlier run has left. */
export const requireUnused = (
  repository: Repository,
  { branch, isRegistered }: SourceBranch,
): Effect.Effect<void, BranchInUseError> =>
  isRegistered
    ? Effect.fail(
        new BranchInUseError(
          branch,
          `the worktree at ${worktreePathOf(repository, branch)}`,
          "Name another branch for the fork.",
        ),
      )
    : Effect.void;

/** Only root can move a directory without write permission. */
const move = async (from: Buffer, to: Buffer): Promise<void> => {
  const status = await lstat(from);
  if (!status.isDirectory() || (status.mode & 0o200) !== 0) return rename(from, to);
  await chmod(from, 0o700);
  await rename(from, to);
  await chmod(to, status.mode & 0o7777);
};

/** A worktree's own `.git` leads to its git directory, so it stays. The names may hold any bytes. */
const moveFiles = async (from: string, to: string): Promise<void> => {
  const at = (directory: string, name: Buffer) => Buffer.concat([Buffer.from(`${directory}/`), name]);
  const { mode } = await lstat(from);
  await chmod(from, 0o700);
  await rm(join(from, ".git"), { recursive: true, force: true });
  for (const name of readdirSync(from, { encoding: "buffer" })) await move(at(from, name), at(to, name));
  await chmod(to, mode & 0o777);
};

/** Git on the host finds the same differences as in the original: the index is the host's own, not the agent's. */
const copyHostIndex = (from: CheckoutSession, to: CheckoutSession): void => {
  for (const name of readdirSync(from.gitDirectory)) {
    if (name === "index" || name.startsWith("sharedindex."))
      copyFileSync(join(from.gitDirectory, name), join(to.gitDirectory, name));
  }
  to.indexAt = from.indexAt;
};

/** Fills an empty worktree with the files of another checkout, in which no command of a caller runs. */
export const copyCheckout = Effect.fnUntraced(function* (
  session: Session,
  from: CheckoutSession,
  to: CheckoutSession,
): Effect.fn.Return<void, SandduneError> {
  to.isMereCopy = true;
  to.copiedFrom = from.branch;
  // The files may be an agent's.
  to.isUsed = true;
  const staged = join(session.journal.filesDirectory, "copied-worktree");
  yield* interruptible(async (signal) => {
    await copyTree(from.path, staged, signal);
    await moveFiles(staged, to.path);
    await removeDirectory(staged);
    copyHostIndex(from, to);
  });
  const leftOut = leaveOutRepositories(from.nestedRepositories, from.path, to.path);
  if (leftOut.length > 0) {
    const names = leftOut.map((name) => JSON.stringify(name)).join(", ");
    session.progress.warn(
      `A fork has the files of repositories inside the worktree, and not their history. Submodules are not initialised: ${names}.`,
    );
  }
  yield* disarmRepositories(session, to);
});

/** From now on the copy may hold work of its own. */
export const keepCopy = ({ journal }: Session, checkout: CheckoutSession): void => {
  journal.write({ type: "created", what: "worktree", name: checkout.path }, { isDurable: true });
  checkout.isMereCopy = false;
};
