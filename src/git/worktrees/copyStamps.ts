import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CopyLimits, runInTime } from "./copyFiles.ts";

/**
 * When an item was copied into a worktree: the change time of a file in the worktree's git directory, which no sandbox
 * sees. A file that has changed since has a later one, which no program can set.
 */
const stampOf = (gitDirectory: string, destination: string): string =>
  join(gitDirectory, "sanddune-copied", createHash("sha256").update(destination).digest("hex"));

const TICK_MS = 1;

const write = (path: string, content = ""): bigint => {
  writeFileSync(path, content);
  return statSync(path, { bigint: true }).ctimeNs;
};

/** The clock of a file system advances by milliseconds. Files of one tick could not be told apart. */
const untilLater = async (
  path: string,
  than: bigint,
  signal: AbortSignal,
  content?: string,
): Promise<bigint> => {
  for (;;) {
    const now = write(path, content);
    if (now > than) return now;
    await sleep(TICK_MS, undefined, { signal });
  }
};

const timeNoteOf = (stamp: string): string => `${stamp}.time`;

/** A change of its owner or its rights, as `chown -R` makes, would make everything older than the stamp. */
const isAsMade = (stamp: string): boolean =>
  existsSync(timeNoteOf(stamp)) &&
  readFileSync(timeNoteOf(stamp), "utf8") === String(statSync(stamp, { bigint: true }).ctimeNs);

/** Notes that everything at the destination is as it was copied. */
export const stampCopy = async (
  gitDirectory: string,
  destination: string,
  signal: AbortSignal,
): Promise<void> => {
  const stamp = stampOf(gitDirectory, destination);
  mkdirSync(join(stamp, ".."), { recursive: true });
  const stamped = await untilLater(stamp, write(stamp), signal);
  await untilLater(timeNoteOf(stamp), stamped, signal, String(stamped));
};

/** Paths at and below `path` that have changed since the destination was copied; `undefined` if that is not known. */
export const changedSinceCopy = async (
  gitDirectory: string,
  destination: string,
  path: string,
  limits: CopyLimits,
): Promise<readonly string[] | undefined> => {
  const stamp = stampOf(gitDirectory, destination);
  if (!existsSync(stamp) || !isAsMade(stamp)) return undefined;
  const { exitCode, stdout } = await runInTime("find", [path, "-newercc", stamp, "-print0"], limits);
  // Not every `find` can compare change times.
  return exitCode === 0 ? stdout.split("\0").filter((name) => name !== "") : undefined;
};
