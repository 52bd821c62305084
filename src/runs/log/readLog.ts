import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { RunLogNotFoundError } from "../../errors/commandErrors.ts";
import { HostFileError } from "../../errors.ts";
import { readRun, type StoredRun } from "../storedRun.ts";
import { startOfLastLines } from "./lastLines.ts";

const CHUNK_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 200;

const openLog = async ({ runId, logFilePath }: StoredRun): Promise<FileHandle> => {
  if (logFilePath === undefined) throw new RunLogNotFoundError(runId, undefined);
  try {
    // Whatever else is there instead, a link or a pipe, is not opened as one.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(logFilePath, flags);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    if (!["ENOENT", "ELOOP", "ENXIO"].includes(code)) {
      throw new HostFileError(code, logFilePath, { cause: error });
    }
  }
  throw new RunLogNotFoundError(runId, logFilePath);
};

export interface LogWish {
  /** Go on until the run has ended, rather than to where the log ends now. */
  readonly follow: boolean;
  /** Begin with so many of the lines that there are; all when it is left out. */
  readonly lines?: number | undefined;
}

/** The run log of a run, piece by piece. */
export async function* readLog(run: StoredRun, { follow, lines }: LogWish): AsyncGenerator<string> {
  const file = await openLog(run);
  try {
    const decoder = new TextDecoder();
    const buffer = Buffer.alloc(CHUNK_BYTES);
    let position = lines === undefined ? 0 : await startOfLastLines(file, lines);
    let isOver = !follow;
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
      if (bytesRead > 0) {
        position += bytesRead;
        yield decoder.decode(buffer.subarray(0, bytesRead), { stream: true });
        continue;
      }
      if (isOver) break;
      // What it wrote between the last read and its end is read in one more round.
      isOver = readRun(run.runDirectory)?.state !== "running";
      if (!isOver) await delay(LOOK_EVERY_MS);
    }
    yield decoder.decode();
  } finally {
    await file.close();
  }
}
