import { HostFileError } from "../errors.ts";

/** What the C library calls the errors that say something about the host's disk rather than about the program. */
const MESSAGES: readonly (readonly [string, string])[] = [
  ["No space left on device", "ENOSPC"],
  ["Disk quota exceeded", "EDQUOT"],
  ["Disc quota exceeded", "EDQUOT"],
  ["Read-only file system", "EROFS"],
  ["Too many open files in system", "ENFILE"],
  ["Too many open files", "EMFILE"],
  ["Input/output error", "EIO"],
];

/** The code of the first such error that ends a line of a program's output, in the C locale. */
export const errorCodeIn = (output: string): string | undefined => {
  for (const line of output.split("\n")) {
    const found = MESSAGES.find(([message]) => line.trimEnd().endsWith(`: ${message}`));
    if (found !== undefined) return found[1];
  }
  return undefined;
};

/** Errors of connections, and of processes that could not be started, look the same. */
const IS_OF_NETWORK = /^(ECONN|EPIPE|ENOTCONN|ETIMEDOUT|EHOST|ENET|EADDR|ENOTFOUND|EAI_)/;
const OTHER_CALLS = /^(spawn|kill|connect|listen|bind|accept|shutdown|getaddrinfo|query)/;

/** What a file operation of this process has failed with, as a typed error; `undefined` for anything else. */
export const asHostFileError = (reason: unknown): HostFileError | undefined => {
  const { code, path, syscall } = (reason ?? {}) as NodeJS.ErrnoException;
  if (!(reason instanceof Error) || typeof code !== "string" || typeof syscall !== "string") return undefined;
  if (IS_OF_NETWORK.test(code) || OTHER_CALLS.test(syscall)) return undefined;
  return new HostFileError(code, path, { cause: reason });
};
