import * as Effect from "effect/Effect";
import { BranchInUseError, MergeInterruptedError, type SandduneError } from "../../errors.ts";
import { lockMerges } from "../locks/locks.ts";
import type { Repository } from "../repository.ts";
import { type FoundNote, findNote } from "./mergeNote.ts";
import { settleMerge } from "./settle.ts";

interface EarlierMerge {
  /** Reports how it was ended. */
  readonly sentence: string;
  readonly isCompleted: boolean;
}

const describe = ({ sourceBranch, runId, checkoutPath }: FoundNote): string =>
  `The merge of ${sourceBranch}, by run ${runId}, was interrupted in ${checkoutPath}.`;

/** Ends a merge that an earlier run has left in a checkout, or fails. The caller must hold the merge lock. */
export const settleEarlierMerge = Effect.fnUntraced(function* (
  repository: Repository,
  checkoutPath: string,
  current: { readonly sourceBranch: string; readonly targetBranch: string },
): Effect.fn.Return<EarlierMerge | undefined, SandduneError> {
  const note = findNote(repository, checkoutPath);
  if (note === undefined) return undefined;
  const settlement = yield* settleMerge(note);
  switch (settlement.outcome) {
    case "untouched":
      return undefined;
    case "completed": {
      const sentence = `${describe(note)} All files had been written, so it was completed.`;
      return { sentence, isCompleted: true };
    }
    case "restored": {
      const sentence = `${describe(note)} The checkout was put back as it was before. To merge it: git merge ${note.sourceBranch}`;
      return { sentence, isCompleted: false };
    }
    case "blocked":
      return yield* Effect.fail(
        new MergeInterruptedError(checkoutPath, current.sourceBranch, current.targetBranch, {
          ...settlement,
          problem: `the merge of ${note.sourceBranch} was interrupted in its checkout, and ${settlement.problem}`,
        }),
      );
  }
});

/** Does the same before a run works in the checkout, where `git add -A` would commit half a merge. */
export const settleBeforeWork = (
  repository: Repository,
  { runId, branch }: { readonly runId: string; readonly branch: string | undefined },
): Effect.Effect<string | undefined, SandduneError> =>
  Effect.suspend(() => {
    const { topLevel } = repository;
    const note = findNote(repository, topLevel);
    if (note === undefined) return Effect.succeed(undefined);
    const name = branch ?? "HEAD";
    const names = { sourceBranch: note.sourceBranch, targetBranch: name };
    return Effect.scoped(
      Effect.andThen(lockMerges(repository, runId), settleEarlierMerge(repository, topLevel, names)),
    ).pipe(
      Effect.flatMap((earlier) => {
        if (earlier?.isCompleted !== true) return Effect.succeed(earlier?.sentence);
        // The run was planned for the commit before the merge.
        const owner = `the merge of ${note.sourceBranch}, which had been interrupted and was just completed`;
        return Effect.fail(new BranchInUseError(name, owner, "Run again."));
      }),
    );
  });
