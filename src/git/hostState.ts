import { existsSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { type SandduneError, UnsupportedRepositoryError } from "../errors.ts";
import type { HostHead } from "../options/branchStrategy.ts";
import { type ConfigEntry, parseConfigList } from "./configFile.ts";
import { gitText } from "./git.ts";
import { listRefs, type Ref } from "./refs.ts";
import type { Repository } from "./repository.ts";
import { listWorktrees, type RegisteredWorktree } from "./worktrees/worktreeList.ts";

/** The host repository at the start of a run. */
export interface HostState {
  readonly head: HostHead;
  /** The user's branches, tags and remote branches; symbolic ones and sanddune's own are left out. */
  readonly refs: readonly Ref[];
  /** The user's git configuration as it applies to the repository. */
  readonly config: readonly ConfigEntry[];
  readonly worktrees: readonly RegisteredWorktree[];
}

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
      const branch = symbolicRef === "" ? undefined : symbolicRef.replace(/^refs\/heads\//, "");
      return Effect.succeed({ branch, sha });
    }),
  );

export const readHostState = ({ topLevel: cwd }: Repository): Effect.Effect<HostState, SandduneError> =>
  Effect.all(
    {
      head: readHead(cwd),
      refs: listRefs(cwd, "refs/heads", "refs/tags", "refs/remotes"),
      config: gitText(["config", "--list", "-z"], { cwd }).pipe(Effect.map(parseConfigList)),
      worktrees: listWorktrees(cwd),
    },
    { concurrency: "unbounded" },
  );

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
