import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, renameSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readableEntries } from "../../tools/files/readableEntries.ts";

/** A directory of this name holds an unfinished or a discarded shared checkout, or kept set-up. */
const DRAFT = ".draft-";

export const isDraft = (path: string): boolean => basename(path).startsWith(DRAFT);

const draftIn = (directory: string): string => join(directory, `${DRAFT}${randomBytes(6).toString("hex")}`);

/** Makes a draft, which only this user can write to. */
export const makeDraft = (directory: string): string => {
  const draft = draftIn(directory);
  mkdirSync(draft, { mode: 0o700 });
  return draft;
};

/** Whether only this user can have written to a directory. */
export const isOwn = (path: string): boolean => {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === process.getuid?.() && (status.mode & 0o077) === 0;
};

/** All of one kind, with the unfinished and the discarded ones. */
export const directoriesIn = (parent: string): string[] =>
  readableEntries(parent)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(parent, name));

/** Remembers by the time of its record that a run used one. */
export const noteUse = (recordPath: string): void => {
  const now = new Date();
  utimesSync(recordPath, now, now);
};

/** Those that were used longest ago, with drafts, and with all that cannot be used: `usedAt` knows no time of them. */
export const longestUnused = (
  paths: readonly string[],
  usedAt: (path: string) => number | undefined,
  kept: number,
): string[] =>
  paths
    .map((path) => ({ path, time: isDraft(path) ? 0 : (usedAt(path) ?? 0) }))
    .sort((one, other) => other.time - one.time)
    .filter(({ time }, position) => position >= kept || time === 0)
    .map(({ path }) => path);

/** One disappears at once, never in part. Returns where it is until it is removed. The caller holds the lock. */
export const putAside = (path: string): string => {
  if (isDraft(path)) return path;
  const aside = draftIn(dirname(path));
  renameSync(path, aside);
  return aside;
};
