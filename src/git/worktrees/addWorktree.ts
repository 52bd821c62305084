import * as Effect from "effect/Effect";
import { attempt } from "../../boundary/failures.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { BranchInUseError, type SandduneError } from "../../errors.ts";
import { type ConfigEntry, isTrue } from "../configFile.ts";
import { git } from "../git.ts";
import { isGitError } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { adminDirectoriesOf } from "./adminDirectory.ts";
import { type NewWorktree, registerWorktree } from "./registerWorktree.ts";
import { removeAdminDirectories, removeWorktreeFiles } from "./removeWorktree.ts";

/** Git writes files with as many processes as the machine has cores, if there are enough files. */
export const PARALLEL = ["-c", "checkout.workers=0"] as const;

/**
 * Whether only git can write what it knows of a worktree of this repository: its refs are not files, worktrees have settings of
 * their own, or a group shares the files.
 */
export const gitMustAddWorktrees = (config: readonly ConfigEntry[]): boolean =>
  config.some(([key, value]) => key === "extensions.refstorage" && value !== "files") ||
  config.some(([key]) => key === "core.sharedrepository") ||
  isTrue(config, "extensions.worktreeconfig") ||
  isTrue(config, "core.sparsecheckout");

export interface WorktreeToAdd extends Required<NewWorktree> {
  /** The branch's tip. */
  readonly sha: string;
  /** Git knows a worktree at this path, whose directory was deleted. */
  readonly isRegistered: boolean;
  /** It gets neither files nor an index. */
  readonly isEmpty: boolean;
  readonly needsGitToAdd: boolean;
}

/** Git also looks for the branch in rebases and bisections, whose checkouts have a detached HEAD. */
const inUseElsewhere = (branch: string, error: SandduneError): SandduneError => {
  if (!isGitError(error)) return error;
  const [, holder] =
    /^fatal: .* is already (?:checked out|used by worktree) at '(.+)'$/m.exec(error.stderr) ?? [];
  if (holder === undefined) return error;
  const hint = "Use another branch, or switch that checkout to another one, or end its rebase or bisection.";
  return new BranchInUseError(branch, `the checkout at ${holder}`, hint);
};

const addByGit = (
  { topLevel }: Repository,
  { path, branch, lockReason, isRegistered, isEmpty }: WorktreeToAdd,
) => {
  // A second --force overrides the lock of a registered worktree whose directory was deleted.
  const forced = isRegistered ? ["--force", "--force"] : [];
  const files = isEmpty ? ["--no-checkout"] : [];
  const lock = ["--lock", "--reason", lockReason];
  return git([...PARALLEL, "worktree", "add", ...forced, ...files, "--quiet", ...lock, path, branch], {
    cwd: topLevel,
  }).pipe(Effect.mapError((error) => inUseElsewhere(branch, error)));
};

const addByHand = Effect.fnUntraced(function* (
  repository: Repository,
  worktree: WorktreeToAdd,
): Effect.fn.Return<void, SandduneError> {
  const { path, sha, isRegistered, isEmpty } = worktree;
  if (isRegistered) {
    yield* interruptible(() => removeAdminDirectories(repository, adminDirectoriesOf(repository, path)));
  }
  yield* attempt(() => registerWorktree(repository, worktree));
  if (!isEmpty) yield* git([...PARALLEL, "read-tree", "--reset", "-u", sha], { cwd: path });
});

/** Adds a worktree that is locked: neither `git worktree prune` nor an automatic gc removes it. */
export const addWorktree = (
  repository: Repository,
  worktree: WorktreeToAdd,
): Effect.Effect<void, SandduneError> =>
  worktree.needsGitToAdd
    ? Effect.asVoid(addByGit(repository, worktree))
    : addByHand(repository, worktree).pipe(
        Effect.onError(() =>
          Effect.ignore(interruptible(() => removeWorktreeFiles(repository, worktree.path))),
        ),
      );
