import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The end of the output is where a program says what went wrong. */
const MAX_READ_BYTES = 64 * 1024;

/**
 * A file for what a process prints that must not depend on a reader. It has no name, so nothing is left of it. Where none
 * can be made, the output is lost.
 */
export interface OutputFile {
  readonly descriptor: number;
  /** The end of what was printed. */
  read(): string;
  close(): void;
}

const openWithoutName = (): number => {
  try {
    const directory = mkdtempSync(join(tmpdir(), "sanddune-output-"));
    try {
      return openSync(join(directory, "output"), "wx+", 0o600);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  } catch {
    // A full disk must not keep a checkout from being put back.
    return openSync("/dev/null", "r+");
  }
};

export const openOutputFile = (): OutputFile => {
  const descriptor = openWithoutName();
  return {
    descriptor,
    read: () => {
      const { size } = fstatSync(descriptor);
      const end = Buffer.alloc(Math.min(size, MAX_READ_BYTES));
      const bytes = readSync(descriptor, end, 0, end.length, size - end.length);
      return end.toString("utf8", 0, bytes);
    },
    close: () => closeSync(descriptor),
  };
};
