import { mkdir } from "node:fs/promises";
import { HostFileError, ProcessTimeoutError } from "../errors.ts";
import { hostSystem } from "./host/system.ts";
import { hostEnvironment } from "./hostPrograms.ts";
import { removeDirectory } from "./removeDirectory.ts";
import { runProcess } from "./runProcess.ts";

const TIMEOUT_MS = 600_000;

/** Both exit codes are printed: a pipe has only the last one. */
const PIPE = `from=$1 to=$2
shift 2
{ { tar -C "$from" "$@" -cf - .; echo "packed $?" >&3; } | { tar -C "$to" -xpf -; echo "unpacked $?" >&3; }; } 3>&1 1>&2`;

/** GNU tar: files changed, or went, while they were read. */
const CHANGED_MEANWHILE = "1";

const errorCodeOf = (stderr: string): string => {
  if (/No space left/i.test(stderr)) return "ENOSPC";
  if (/File name too long/i.test(stderr)) return "ENAMETOOLONG";
  return /Permission denied/i.test(stderr) ? "EACCES" : "tar failed";
};

/** The entry that tar could not read; the directory, if tar names none. */
const refusedPath = (stderr: string, directory: string): string => {
  const [, name] = /^(?:bsd)?tar: \.\/(.+?): C(?:annot|ould)/m.exec(stderr) ?? [];
  return name === undefined ? directory : `${directory}/${name}`;
};

/**
 * Copies a directory into another one that does not exist or is empty: files with their modes, times, links and odd names.
 * Sockets are left out. Nothing is left if it fails.
 *
 * Processes of an agent may change the directory meanwhile. tar opens each entry relative to its directory and follows no link, so
 * that an entry cannot be exchanged for a link to another file of the host; `cp` looks up each path again.
 */
export const copyTree = async (from: string, to: string, signal?: AbortSignal): Promise<void> => {
  signal?.throwIfAborted();
  await mkdir(to, { recursive: true, mode: 0o700 });
  try {
    const { stdout, stderr } = await runProcess({
      program: "sh",
      args: ["-c", PIPE, "sh", from, to, ...hostSystem().archiveOptions],
      // Names keep their bytes, and no option that the user has set for tar applies.
      env: { ...hostEnvironment(), LC_ALL: "C", TAR_OPTIONS: undefined, COPYFILE_DISABLE: "1" },
      timeoutMs: TIMEOUT_MS,
      captureBytes: 4000,
      ...(signal && { signal }),
    });
    const [, packed] = /^packed (\d+)$/m.exec(stdout) ?? [];
    const [, unpacked] = /^unpacked (\d+)$/m.exec(stdout) ?? [];
    if ((packed !== "0" && packed !== CHANGED_MEANWHILE) || unpacked !== "0") {
      throw new HostFileError(errorCodeOf(stderr), refusedPath(stderr, from), {
        cause: new Error(stderr.trim()),
      });
    }
  } catch (error) {
    await removeDirectory(to).catch(() => {});
    throw error instanceof ProcessTimeoutError
      ? new HostFileError("ETIMEDOUT", from, { cause: error })
      : error;
  }
};
