import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import { branchRef, isGitFailure, reasonOf } from "../refs.ts";

export interface IndexSync {
  readonly checkoutPath: string;
  readonly gitDirectory: string;
  /** The branch that the index belongs to; `undefined` for a detached HEAD. */
  readonly branch: string | undefined;
  readonly from: string;
  readonly to: string;
}

/** Whether a checkout is still on its branch. The index belongs to the branch that is checked out. */
export const isStillOn = ({ gitDirectory, branch }: Pick<IndexSync, "gitDirectory" | "branch">): boolean => {
  const path = join(gitDirectory, "HEAD");
  const head = existsSync(path) ? readFileSync(path, "utf8").trimEnd() : "";
  return branch === undefined ? /^[0-9a-f]+$/.test(head) : head === `ref: ${branchRef(branch)}`;
};

/**
 * Updates the index of a checkout after an import has moved its branch; the files are up to date already. Staged
 * changes of the user are kept. If that is impossible the index is left alone, and the returned sentence says so.
 */
export const syncIndex = Effect.fnUntraced(function* (
  sync: IndexSync,
): Effect.fn.Return<string | undefined, SandduneError> {
  const { checkoutPath, from, to } = sync;
  if (from === to) return undefined;
  if (!isStillOn(sync)) {
    return `${checkoutPath} was switched to another branch during the run. The agent's commits are on ${sync.branch ?? to}; its files are still in the checkout. See: git status`;
  }
  // -i: the agent has written the files, so they differ from what the index knows.
  return yield* git(["read-tree", "-i", "-m", from, to], { cwd: checkoutPath }).pipe(
    Effect.as(undefined),
    Effect.catchIf(isGitFailure, (error) =>
      Effect.succeed(
        `The index of ${checkoutPath} could not follow the new commits and was left as it was (${reasonOf(error)}). See: git status`,
      ),
    ),
  );
});
