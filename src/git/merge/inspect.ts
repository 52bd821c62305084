import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { Change } from "../diffTree.ts";
import { changedFiles, isSameFile, readIndex } from "./changes.ts";
import { type CheckoutFile, hasModeOf, inspectFile, isContentOf } from "./checkoutFile.ts";
import { hashFiles, isBeginningOf } from "./contents.ts";
import type { FoundNote } from "./mergeNote.ts";

/** Files of the commit before the merge that are missing in the checkout: the user has deleted them. */
export const absentFiles = (checkoutPath: string, changes: readonly Change[]): string[] =>
  changes
    .filter(({ path, from }) => from && inspectFile(checkoutPath, path, from.sha).type === "absent")
    .map(({ path }) => path);

/** The state of a checkout after an interrupted merge. */
export interface HalfMerged {
  /** Git has written all files and the index; only the branch has not moved. */
  readonly isWritten: boolean;
  /** Files that the merge has added, wholly or in part. */
  readonly added: readonly string[];
  /** Files that the merge has overwritten or deleted. */
  readonly overwritten: readonly string[];
  /** Files that are neither as before the merge nor as git would have written them. */
  readonly changedSince: readonly string[];
}

interface Candidate extends Change {
  readonly file: CheckoutFile;
  readonly sha: string | undefined;
}

/** Clocks of different file systems differ in precision. */
const FOREIGN_CLOCK_MS = 2000;

/** Whether a file was changed after the merge began, when git had checked it. */
const isRecent = (file: CheckoutFile, { writtenAtMs, device }: FoundNote): boolean =>
  "changedAtMs" in file && file.changedAtMs >= writtenAtMs - (file.device === device ? 0 : FOREIGN_CLOCK_MS);

/** The executable bit counts only if it is the merge's only change to the file: some file systems have none. */
const isUntouched = ({ file, sha, from, to }: Candidate): boolean =>
  isContentOf(file, sha, from) && (from?.sha !== to?.sha || hasModeOf(file, from));

/** Whether git has written the file: the merge, or restoring it, may have stopped at any byte. */
const isByGit = Effect.fnUntraced(function* (
  note: FoundNote,
  { file, sha, path, from, to }: Candidate,
): Effect.fn.Return<boolean, SandduneError> {
  if (isContentOf(file, sha, to)) return true;
  // Links are created at once, never in part.
  if (file.type !== "file") return false;
  for (const version of [to && { file: to, commit: note.to }, from && { file: from, commit: note.from }]) {
    if (version !== undefined && (yield* isBeginningOf(note.checkoutPath, path, version))) return true;
  }
  return false;
});

/** Inspects the files of a checkout at the paths of changes. */
const inspectFiles = Effect.fnUntraced(function* (
  checkoutPath: string,
  changes: readonly Change[],
): Effect.fn.Return<Candidate[], SandduneError> {
  const inspected = changes.map((change) => {
    const anySha = (change.from ?? change.to)?.sha ?? "";
    return { ...change, file: inspectFile(checkoutPath, change.path, anySha) };
  });
  const regular = inspected.filter(({ file }) => file.type === "file").map(({ path }) => path);
  const hashes = yield* hashFiles(checkoutPath, regular);
  return inspected.map((candidate) => ({ ...candidate, sha: hashes.get(candidate.path) }));
});

/** The files whose content is not that of before the merge. */
export const filesNotPutBack = Effect.fnUntraced(function* (
  { checkoutPath, from, to }: FoundNote,
  paths: readonly string[],
): Effect.fn.Return<string[], SandduneError> {
  const wanted = new Set(paths);
  const changes = (yield* changedFiles(checkoutPath, from, to)).filter(({ path }) => wanted.has(path));
  return (yield* inspectFiles(checkoutPath, changes))
    .filter(({ file, sha, from: before }) => !isContentOf(file, sha, before))
    .map(({ path }) => path);
});

/** Whether a path is below one of the others. */
const isBelow = (path: string, others: ReadonlySet<string>): boolean =>
  path.split("/").some((_, end, steps) => others.has(steps.slice(0, end).join("/")));

/** Compares a checkout with the commits before and after a merge. Changes nothing. */
export const inspectCheckout = Effect.fnUntraced(function* (
  note: FoundNote,
): Effect.fn.Return<HalfMerged, SandduneError> {
  const { checkoutPath, from, to } = note;
  const index = yield* readIndex(checkoutPath);
  const changes = (yield* changedFiles(checkoutPath, from, to)).filter(
    ({ path }) => !index.get(path)?.isSparse,
  );
  const added: string[] = [];
  const overwritten: string[] = [];
  const changedSince: string[] = [];
  const isWritten =
    changes.length > 0 && changes.every((change) => isSameFile(index.get(change.path), change.to));
  if (isWritten) return { isWritten, added, overwritten, changedSince };
  // Git does not touch files that the user has staged.
  const wereAbsent = new Set(note.absent);
  const unstaged = changes.filter(
    (change) => isSameFile(index.get(change.path), change.from) && !wereAbsent.has(change.path),
  );
  const obstructed: string[] = [];
  for (const candidate of yield* inspectFiles(checkoutPath, unstaged)) {
    if (isUntouched(candidate)) continue;
    const { path, file } = candidate;
    if (file.type === "absent" && file.isObstructed) obstructed.push(path);
    else if (file.type === "absent" || file.type === "other") overwritten.push(path);
    else if (!isRecent(file, note)) continue;
    else if (!(yield* isByGit(note, candidate))) changedSince.push(path);
    else (candidate.from === undefined ? added : overwritten).push(path);
  }
  // To restore a file below, git would remove a user's file that has replaced a directory.
  const own = new Set(added);
  for (const path of obstructed) (isBelow(path, own) ? overwritten : changedSince).push(path);
  return { isWritten, added, overwritten, changedSince };
});
