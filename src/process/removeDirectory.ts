import { lstatSync, rmdirSync, unlinkSync } from "node:fs";
import { HostFileError } from "../errors.ts";
import { listAtMost } from "../tools/files/listAtMost.ts";
import { succeeds } from "../tools/orUndefined.ts";
import { retry } from "../tools/wait/retry.ts";
import { hostEnvironment } from "./hostPrograms.ts";
import { withOpenDirectory } from "./openDirectory.ts";
import { runProcess } from "./runProcess.ts";

/** Removing them here takes less time than starting a program. */
const FEW_ENTRIES = 200;
const FEW_BYTES = 64 * 1024 * 1024;

/**
 * Removes a directory in this thread. Throws if it is large, or if anything refuses: then some of it may be left. Each directory is
 * open while entries are removed from it.
 */
const removeFew = (path: string): void => {
  let entries = FEW_ENTRIES;
  let bytes = FEW_BYTES;
  const remove = (place: Buffer) => {
    const status = lstatSync(place);
    entries--;
    bytes -= status.size;
    if (entries < 0 || bytes < 0) throw new RangeError("it is not small");
    if (!status.isDirectory()) return unlinkSync(place);
    withOpenDirectory(place.toString("latin1"), [], (directory) => {
      for (const { name } of listAtMost(directory.path, entries)) remove(directory.entry(name));
    });
    rmdirSync(place);
  };
  remove(Buffer.from(path));
};

/** What the system says, as `rm` prints it. */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/Permission denied/, "EACCES"],
  [/Operation not permitted/, "EPERM"],
  [/Read-only file system/, "EROFS"],
  [/busy/, "EBUSY"],
  [/not empty/, "ENOTEMPTY"],
];

const refusal = (path: string, stderr: string): HostFileError => {
  const code = CODES.find(([pattern]) => pattern.test(stderr))?.[1] ?? "unknown";
  const [, refusedPath = path] = /cannot remove '(.+)':/.exec(stderr) ?? [];
  return new HostFileError(code, refusedPath, { cause: new Error(stderr.trim()) });
};

const hasErrorCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof HostFileError && codes.includes(error.errorCode);

const removeAll = async (path: string): Promise<void> => {
  const { exitCode, stderr } = await runProcess({
    program: "rm",
    args: ["-rf", "--", path],
    env: { ...hostEnvironment(), LC_ALL: "C" },
    captureBytes: 4000,
  });
  if (exitCode !== 0) throw refusal(path, stderr);
};

/** The programs of a process that was killed may still be writing for a moment. */
const WRITERS_MS = 10_000;
const PAUSE_MS = 50;
const hasWriter = (error: unknown): boolean => hasErrorCode(error, "ENOTEMPTY");
const isDenied = (error: unknown): boolean => hasErrorCode(error, "EACCES", "EPERM");

/**
 * Removes a directory and everything in it, including read-only directories (package caches have them) and paths that are
 * too long for Node.js: an agent can leave both.
 *
 * Processes of an agent may still be there, and exchange a directory for a link to files of the host. So nothing is removed by a path
 * that is looked up again: GNU's and BSD's `rm` open each directory relative to the one that it is in, and so does this process on
 * Linux. Node.js' own `rm` does not.
 */
export const removeDirectory = async (path: string): Promise<void> => {
  if (succeeds(() => removeFew(path))) return;
  const patience = {
    timeoutMs: WRITERS_MS,
    pauseAfter: (error: unknown) => (hasWriter(error) ? PAUSE_MS : undefined),
  };
  await retry(() => removeAll(path), patience).catch(async (error: unknown) => {
    if (!isDenied(error)) throw error;
    await runProcess({ program: "chmod", args: ["-R", "u+rwx", "--", path] });
    await removeAll(path);
  });
};
