import { existsSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { type SandduneError, UnsupportedRepositoryError } from "../errors.ts";
import type { HostHead } from "../options/branchStrategy.ts";
import { type ConfigEntry, parseConfigList } from "./configFile.ts";
import { gitText } from "./git.ts";
import { listRefsWithConfig, type Ref, type RefsWithConfig } from "./refs.ts";
import type { Repository } from "./repository.ts";
import { type RegisteredWorktree, readWorktrees } from "./worktrees/worktreeList.ts";

/** The host repository at the start of a run. */
export interface HostState {
  readonly head: HostHead;
  /** The user's branches, tags and remote branches; symbolic ones and sanddune's own are left out. */
  readonly refs: readonly Ref[];
  /** The user's git configuration as it applies to the repository. */
  readonly config: readonly ConfigEntry[];
  readonly worktrees: readonly RegisteredWorktree[];
}

const branchOf = (ref: string): string => ref.replace(/^refs\/heads\//, "");

export const readHead = (cwd: string): Effect.Effect<HostHead, SandduneError> =>
  Effect.all(
    [
      gitText(["symbolic-ref", "--quiet", "HEAD"], { cwd, expectedExitCodes: [1] }),
      gitText(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"], { cwd, expectedExitCodes: [1] }),
    ],
    { concurrency: "unbounded" },
  ).pipe(
    Effect.flatMap(([symbolicRef, sha]) => {
      if (sha === "") {
        const hint = 'Make one to start from: git commit --allow-empty -m "Initial commit"';
        return Effect.fail(new UnsupportedRepositoryError(cwd, "has no commit yet", hint));
      }
      const branch = symbolicRef === "" ? undefined : branchOf(symbolicRef);
      return Effect.succeed({ branch, sha });
    }),
  );

const readConfig = (cwd: string): Effect.Effect<ConfigEntry[], SandduneError> =>
  gitText(["config", "--list", "-z"], { cwd }).pipe(Effect.map(parseConfigList));

/** The part of the state that can be read before the repository is known, in any directory of the checkout. */
export const listHostRefs = (cwd: string): Effect.Effect<RefsWithConfig, SandduneError> =>
  listRefsWithConfig(cwd, "refs/heads", "refs/tags", "refs/remotes");

export const readHostState = Effect.fnUntraced(function* (
  repository: Repository,
  listed = listHostRefs(repository.topLevel),
): Effect.fn.Return<HostState, SandduneError> {
  const cwd = repository.topLevel;
  const { refs, head, ...told } = yield* listed;
  const config = told.config ?? (yield* readConfig(cwd));
  return {
    refs,
    // No branch is checked out if HEAD is detached, or if the branch has no commit yet.
    head: head === undefined ? yield* readHead(cwd) : { branch: branchOf(head.name), sha: head.sha },
    config,
    worktrees: yield* readWorktrees(repository, config),
  };
});

const UNFINISHED = {
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
} as const;

/** An agent's commit would conclude the user's unfinished merge, with the files as they are. */
export const checkNothingUnfinished = ({ gitDirectory, topLevel }: Repository): void => {
  for (const [file, what] of Object.entries(UNFINISHED)) {
    if (existsSync(join(gitDirectory, file))) {
      throw new UnsupportedRepositoryError(
        topLevel,
        `is in the middle of a ${what}`,
        `Finish it, or abort it: git ${what} --abort. Or use \`merge-to-head\` or \`branch\`.`,
      );
    }
  }
};
