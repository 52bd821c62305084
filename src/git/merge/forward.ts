import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import { writeErrorIn } from "../../boundary/hostFileErrors.ts";
import { CheckoutInTheWayError, MergeInterruptedError, type SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import { lockProblem, resolveCommit } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { changedFiles, type KnownChange } from "./changes.ts";
import { absentFiles } from "./inspect.ts";
import { type MergeNote, removeNote, writeNote } from "./mergeNote.ts";
import { MERGE_VARIABLE, settleMerge } from "./settle.ts";

export type ForwardPlan = Omit<MergeNote, "id" | "absent"> & {
  readonly repository: Repository;
  readonly known?: KnownChange | undefined;
};

const EVERY_EXIT_CODE = [1, 2, 128];

/**
 * Moves a checkout to a descendant of its commit, or leaves it as it was. Git finishes if this process dies; if git is
 * killed as well, the note records what to restore.
 */
export const forwardCheckout = Effect.fnUntraced(function* (
  plan: ForwardPlan,
): Effect.fn.Return<"done" | "target moved", SandduneError> {
  const { repository, checkoutPath, sourceBranch, targetBranch, from, to } = plan;
  const targetName = targetBranch ?? "HEAD";
  const absent = absentFiles(checkoutPath, yield* changedFiles(checkoutPath, from, to, plan.known));
  const { runId } = plan;
  const note = writeNote(repository, { runId, sourceBranch, targetBranch, checkoutPath, from, to, absent });
  // Ignored files are in no commit: overwriting them would lose them.
  const merge = ["merge", "--ff-only", "--quiet", "--no-autostash", "--no-overwrite-ignore", to];
  const merged = yield* Effect.exit(
    git(merge, {
      cwd: checkoutPath,
      expectedExitCodes: EVERY_EXIT_CODE,
      env: { [MERGE_VARIABLE]: note.id },
      finishesAlone: true,
    }),
  );
  if (Exit.isSuccess(merged) && merged.value.exitCode === 0) {
    removeNote(note);
    return "done";
  }
  const output = Exit.isSuccess(merged) ? merged.value.stderr : String(Cause.squash(merged.cause));
  // Before files are restored, which frees disk space.
  const errorCode = writeErrorIn(output, checkoutPath);
  const settlement = yield* settleMerge(note);
  if (settlement.outcome === "completed") return "done";
  if ((yield* resolveCommit(checkoutPath, "HEAD")) !== from) return "target moved";
  const isUntouched = settlement.outcome === "untouched";
  if (Exit.isFailure(merged) && isUntouched) return yield* Effect.failCause(merged.cause);
  if (isUntouched && errorCode === undefined) {
    const problem = lockProblem(output) ?? "changes that are not committed are in the way";
    return yield* Effect.fail(
      new CheckoutInTheWayError(checkoutPath, sourceBranch, targetName, problem, output),
    );
  }
  const problem =
    errorCode === undefined ? "git was interrupted" : `its files could not be written (${errorCode})`;
  return yield* Effect.fail(
    new MergeInterruptedError(checkoutPath, sourceBranch, targetName, {
      isHalfMerged: false,
      ...(settlement.outcome === "blocked" && settlement),
      problem: settlement.outcome === "blocked" ? `${problem}, and ${settlement.problem}` : problem,
      errorCode,
      output,
    }),
  );
});
