import { statfsSync } from "node:fs";
import { HostFileError, InternalError, SandduneError } from "../errors.ts";

/** The C library's messages for errors of the host's disk. */
const MESSAGES: readonly (readonly [string, string])[] = [
  ["No space left on device", "ENOSPC"],
  ["Disk quota exceeded", "EDQUOT"],
  ["Disc quota exceeded", "EDQUOT"],
  ["Read-only file system", "EROFS"],
  ["Too many open files in system", "ENFILE"],
  ["Too many open files", "EMFILE"],
  ["Input/output error", "EIO"],
];

const FULL_BELOW_BYTES = 1024 * 1024;

const isFull = (directory: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
};

/** Git often reports only that a write failed. The disk must be checked before anything is removed. */
const COULD_NOT_WRITE = /^(error|fatal): .*\b(couldn't write|unable to write|write error|failed to write)\b/m;

/** The error code of a failed write, from the output of a program in the C locale that ran in `directory`. */
export const writeErrorIn = (output: string, directory: string): string | undefined => {
  for (const line of output.split("\n")) {
    const found = MESSAGES.find(([message]) => line.trimEnd().replace(/[.)]$/, "").endsWith(`: ${message}`));
    if (found !== undefined) return found[1];
  }
  return COULD_NOT_WRITE.test(output) && isFull(directory) ? "ENOSPC" : undefined;
};

/** Errors of connections and of processes have the same shape as file errors. */
const IS_OF_NETWORK = /^(ECONN|EPIPE|ENOTCONN|ETIMEDOUT|EHOST|ENET|EADDR|ENOTFOUND|EAI_)/;
const OTHER_CALLS = /^(spawn|kill|connect|listen|bind|accept|shutdown|getaddrinfo|query)/;

/** The typed error of a failed file operation; `undefined` for anything else. */
export const asHostFileError = (reason: unknown): HostFileError | undefined => {
  const { code, path, syscall } = (reason ?? {}) as NodeJS.ErrnoException;
  if (!(reason instanceof Error) || typeof code !== "string" || typeof syscall !== "string") return undefined;
  if (IS_OF_NETWORK.test(code) || OTHER_CALLS.test(syscall)) return undefined;
  return new HostFileError(code, path, { cause: reason });
};

/** The error that a caller gets: a failed file operation is a `HostFileError`, an unknown error an `InternalError`. */
export const asSandduneError = (reason: unknown): SandduneError =>
  reason instanceof SandduneError
    ? reason
    : (asHostFileError(reason) ?? new InternalError({ cause: reason }));
