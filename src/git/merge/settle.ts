import { existsSync, rmdirSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { findMarked } from "../../process/kill/killMarked.ts";
import { succeeds } from "../../tools/orUndefined.ts";
import { git, gitText } from "../git.ts";
import { asText } from "../output.ts";
import { branchRef, resolveCommit } from "../refs.ts";
import { inspectFile, withFile } from "./checkoutFile.ts";
import { filesNotPutBack, type HalfMerged, inspectCheckout } from "./inspect.ts";
import { type FoundNote, removeNote } from "./mergeNote.ts";
import { removeStaleLocks } from "./staleLocks.ts";

/** Marks the git process that moves a checkout to a merged commit. */
export const MERGE_VARIABLE = "SANDDUNE_MERGE_ID";

/** How an interrupted merge is ended. */
export type Settlement =
  /** Git had not started or had finished, or the user has moved the checkout since. */
  | { readonly outcome: "untouched" }
  | { readonly outcome: "restored"; readonly paths: readonly string[] }
  | { readonly outcome: "completed" }
  | Blocked;

/** The checkout stays half merged: only the user can decide about these files. */
export interface Blocked {
  readonly outcome: "blocked";
  readonly isHalfMerged: true;
  readonly problem: string;
  /** Files that differ from those before the merge. */
  readonly paths: readonly string[];
  /** Locks of git that are in the way. */
  readonly lockPaths: readonly string[];
}

const blocked = (problem: string, paths: readonly string[], lockPaths: readonly string[] = []): Blocked => ({
  outcome: "blocked",
  isHalfMerged: true,
  problem,
  paths: paths.map(asText),
  lockPaths,
});

const POLL_MS = 50;
/** The same limit as for the merge lock. */
const GIT_TIMEOUT_MS = 5 * 60_000;

/** When its parent dies, git continues and finishes the merge. */
const gitIsAtWork = ({ id }: FoundNote): boolean =>
  findMarked({ name: MERGE_VARIABLE, value: id }).length > 0;

const untilGitIsOver = Effect.fnUntraced(function* (note: FoundNote): Effect.fn.Return<boolean> {
  for (let waitedMs = 0; waitedMs <= GIT_TIMEOUT_MS; waitedMs += POLL_MS) {
    if (!gitIsAtWork(note)) return true;
    yield* Effect.sleep(POLL_MS);
  }
  return false;
});

/** Whether the checkout is still at the commit and on the branch of the merge's start. */
const isWhereItWas = Effect.fnUntraced(function* ({
  checkoutPath,
  targetBranch,
  from,
}: FoundNote): Effect.fn.Return<boolean, SandduneError> {
  if ((yield* resolveCommit(checkoutPath, "HEAD")) !== from) return false;
  const head = yield* gitText(["symbolic-ref", "--quiet", "HEAD"], {
    cwd: checkoutPath,
    expectedExitCodes: [1],
  });
  return head === (targetBranch === undefined ? "" : branchRef(targetBranch));
});

/** Removes a file, and directories that it leaves empty. Failures are ignored: all files are inspected afterwards. */
const removeFile = (checkoutPath: string, path: string): void => {
  if (!succeeds(() => withFile(checkoutPath, path, (entry) => unlinkSync(entry)))) return;
  let directory = dirname(path);
  while (
    directory !== "." &&
    succeeds(() => withFile(checkoutPath, directory, (entry) => rmdirSync(entry)))
  ) {
    directory = dirname(directory);
  }
};

/** Removes added files first: that frees paths and disk space. */
const putBack = Effect.fnUntraced(function* (
  { checkoutPath }: FoundNote,
  { added, overwritten }: HalfMerged,
): Effect.fn.Return<void, SandduneError> {
  for (const path of added) removeFile(checkoutPath, path);
  // Git would replace a directory, and remove everything in it.
  const free = overwritten.filter((path) => inspectFile(checkoutPath, path, "").type !== "other");
  if (free.length === 0) return;
  yield* git(["checkout-index", "--force", "--quiet", "-z", "--stdin"], {
    cwd: checkoutPath,
    stdin: Buffer.from(`${free.join("\0")}\0`, "latin1"),
    expectedExitCodes: [1, 128],
    finishesAlone: true,
  });
});

const settleCheckout = Effect.fnUntraced(function* (
  note: FoundNote,
  { dryRun }: { readonly dryRun: boolean },
): Effect.fn.Return<Settlement, SandduneError> {
  if (!existsSync(note.checkoutPath)) return { outcome: "untouched" };
  const locks = yield* removeStaleLocks(note, { dryRun });
  if (!(yield* isWhereItWas(note))) return { outcome: "untouched" };
  const found = yield* inspectCheckout(note);
  const { added, overwritten, changedSince } = found;
  const ours = [...added, ...overwritten];
  if (!found.isWritten && ours.length === 0) return { outcome: "untouched" };
  if (locks.length > 0) return blocked("another git may be running in it", ours, locks);
  if (changedSince.length > 0) return blocked("files of the merge have changed since", changedSince);
  if (found.isWritten) {
    if (!dryRun) {
      const reason = `sanddune: merge ${note.sourceBranch}`;
      yield* git(["update-ref", "-m", reason, "HEAD", note.to, note.from], { cwd: note.checkoutPath });
    }
    return { outcome: "completed" };
  }
  if (dryRun) return { outcome: "restored", paths: ours.map(asText) };
  yield* putBack(note, found);
  const left = yield* filesNotPutBack(note, ours);
  return left.length === 0
    ? { outcome: "restored", paths: ours.map(asText) }
    : blocked("files of the merge could not be restored", left);
});

const STILL_AT_WORK = blocked("the git that merges is still running in it", []);

/** What `settleMerge` would do. Changes nothing. */
export const examineMerge = (note: FoundNote): Effect.Effect<Settlement, SandduneError> =>
  gitIsAtWork(note) ? Effect.succeed(STILL_AT_WORK) : settleCheckout(note, { dryRun: true });

/**
 * Ends a merge that was interrupted in a checkout: completes it if only the branch had to be moved, or restores every
 * file that git had written. If any of these files has changed since, none is touched. The caller must hold the merge
 * lock.
 */
export const settleMerge = (note: FoundNote): Effect.Effect<Settlement> =>
  Effect.gen(function* () {
    if (!(yield* untilGitIsOver(note))) return STILL_AT_WORK;
    return yield* Effect.uninterruptible(settleCheckout(note, { dryRun: false })).pipe(
      // The failure of the merge is the one to report.
      Effect.catchCause((cause) =>
        Effect.succeed(blocked(`it could not be put back (${String(Cause.squash(cause))})`, [])),
      ),
    );
  }).pipe(
    Effect.tap((settlement) =>
      Effect.sync(() => {
        if (settlement.outcome !== "blocked") removeNote(note);
      }),
    ),
  );
