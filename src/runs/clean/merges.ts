import * as Effect from "effect/Effect";
import { MergeInterruptedError, type SandduneError } from "../../errors.ts";
import { lockMerges } from "../../git/locks/locks.ts";
import { type FoundNote, findNotes } from "../../git/merge/mergeNote.ts";
import { type Blocked, examineMerge, type Settlement, settleMerge } from "../../git/merge/settle.ts";
import { counted } from "../../tools/counted.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

const blockedBecause = (
  { checkoutPath, sourceBranch, targetBranch }: FoundNote,
  settlement: Blocked,
): MergeInterruptedError =>
  new MergeInterruptedError(checkoutPath, sourceBranch, targetBranch ?? "HEAD", settlement);

const detailOf = ({ sourceBranch, targetBranch = "HEAD" }: FoundNote, settlement: Settlement): string => {
  const merge = `of ${sourceBranch} into ${targetBranch}`;
  switch (settlement.outcome) {
    case "restored":
      return `${merge}, ${counted(settlement.paths.length, "file")} to be put back as before`;
    case "completed":
      return `${merge}, all files are written: the branch is to be moved`;
    default:
      return merge;
  }
};

const settle = (scope: CleanScope, note: FoundNote): Effect.Effect<void, SandduneError> =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* lockMerges(scope.repository, note.runId);
      const settlement = yield* settleMerge(note);
      if (settlement.outcome === "blocked") return yield* Effect.fail(blockedBecause(note, settlement));
    }),
  );

const findMerge = (scope: CleanScope, note: FoundNote): Effect.Effect<Leftover> =>
  examineMerge(note).pipe(
    Effect.map(
      (settlement): Leftover => ({
        what: "interrupted merge",
        name: note.checkoutPath,
        runIds: [note.runId],
        detail: detailOf(note, settlement),
        ...(settlement.outcome === "blocked" && { keptBecause: blockedBecause(note, settlement).message }),
        remove: settle(scope, note),
      }),
    ),
    Effect.catch((error: SandduneError) =>
      Effect.succeed<Leftover>({
        what: "interrupted merge",
        name: note.checkoutPath,
        runIds: [note.runId],
        detail: detailOf(note, { outcome: "untouched" }),
        keptBecause: error.message,
        remove: Effect.void,
      }),
    ),
  );

/** Finds interrupted merges in the user's checkouts. */
export const findMerges = (scope: CleanScope): Effect.Effect<Leftover[]> => {
  const selected = new Set(scope.selected.map(({ runId }) => runId));
  const known = new Set(scope.runs.map(({ runId }) => runId));
  const isEverythingMeant = scope.namedRuns.size + scope.namedBranches.size === 0;
  // A note may outlive the journal of its run.
  const notes = findNotes(scope.repository).filter(
    ({ runId }) => selected.has(runId) || (isEverythingMeant && !known.has(runId)),
  );
  return Effect.forEach(notes, (note) => findMerge(scope, note));
};
