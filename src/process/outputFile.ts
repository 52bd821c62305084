import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Programs report errors at the end of their output. */
const MAX_READ_BYTES = 64 * 1024;

/**
 * A file for the output of a process that must not depend on a reader. It has no name, so nothing has to be removed. If it
 * cannot be created, the output is lost.
 */
export interface OutputFile {
  readonly descriptor: number;
  /** The end of the output. */
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
    // A full disk must not prevent the restoration of a checkout.
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
