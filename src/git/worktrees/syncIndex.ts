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

/** Whether a checkout is on its branch. The user may have switched to another one: then the index is not this branch's. */
export const isStillOn = ({ gitDirectory, branch }: Pick<IndexSync, "gitDirectory" | "branch">): boolean => {
  const path = join(gitDirectory, "HEAD");
  const head = existsSync(path) ? readFileSync(path, "utf8").trimEnd() : "";
  return branch === undefined ? /^[0-9a-f]+$/.test(head) : head === `ref: ${branchRef(branch)}`;
};

/**
 * Lets the index of a checkout follow its branch after an import; its files are there already. What the user had
 * staged is kept; when that is impossible the index is left alone, and the resulting sentence says so.
 */
export const syncIndex = Effect.fnUntraced(function* (
  sync: IndexSync,
): Effect.fn.Return<string | undefined, SandduneError> {
  const { checkoutPath, from, to } = sync;
  if (from === to) return undefined;
  if (!isStillOn(sync)) {
    return `${checkoutPath} was switched to another branch during the run. The agent's commits are on ${sync.branch ?? to}; its files are still in the checkout. See: git status`;
  }
  // -i: the files are the agent's already, and differ from what the index last knew of them.
  return yield* git(["read-tree", "-i", "-m", from, to], { cwd: checkoutPath }).pipe(
    Effect.as(undefined),
    Effect.catchIf(isGitFailure, (error) =>
      Effect.succeed(
        `The index of ${checkoutPath} could not follow the new commits and was left as it was (${reasonOf(error)}). See: git status`,
      ),
    ),
  );
});
