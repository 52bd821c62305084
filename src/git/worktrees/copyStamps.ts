import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nulSeparated } from "../output.ts";
import { type CopyLimits, runInTime } from "./copyFiles.ts";

/**
 * The stamp of a copied item is a file in the worktree's git directory, which no sandbox sees. Files that were changed
 * after the copy have a later change time (ctime) than the stamp, and no program can set that time back.
 */
const stampOf = (gitDirectory: string, destination: string): string =>
  join(gitDirectory, "sanddune-copied", createHash("sha256").update(destination).digest("hex"));

const TICK_MS = 1;

const write = (path: string, content = ""): bigint => {
  writeFileSync(path, content);
  return statSync(path, { bigint: true }).ctimeNs;
};

/** File system clocks tick in milliseconds: files of the same tick are indistinguishable, so wait for the next one. */
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

/** `chown -R` or `chmod -R` changes the stamp's own change time, which would then hide every change before it. */
const isAsMade = (stamp: string): boolean =>
  existsSync(timeNoteOf(stamp)) &&
  readFileSync(timeNoteOf(stamp), "utf8") === String(statSync(stamp, { bigint: true }).ctimeNs);

/** Records that the destination is an unchanged copy. */
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

/** Paths at and below `path` that were changed after the destination was copied; `undefined` if unknown. */
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
  return exitCode === 0 ? nulSeparated(stdout) : undefined;
};
