import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { TextProblem } from "./textProblem.ts";

const MAX_BYTES = 1024 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  ELOOP: "it is a symbolic link, and those are not followed",
  ENOENT: "there is no such file",
  EACCES: "it must not be read by this user",
  ENXIO: "it is not a regular file",
};

const read = (path: string): Buffer => {
  // Opening a pipe would block until something writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw new TextProblem(1, "it is not a regular file");
    if (status.size > MAX_BYTES) throw new TextProblem(1, "it is larger than 1 MiB");
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
};

/** Reads a text file of reasonable size, without its byte order mark. Throws a `TextProblem`. */
export const readText = (path: string): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(read(path));
  } catch (error) {
    if (error instanceof TextProblem) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new TextProblem(
      1,
      code === "ERR_ENCODING_INVALID_ENCODED_DATA"
        ? "it is not UTF-8"
        : (REASONS[code] ?? `it could not be read: ${message}`),
    );
  }
};
