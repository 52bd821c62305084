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
    // A link or a pipe in its place is refused.
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

export interface LogOptions {
  /** Continue until the run has ended, instead of stopping at the current end of the log. */
  readonly follow: boolean;
  /** Start with the last so many lines; with all of them by default. */
  readonly lines?: number | undefined;
}

/** The run log, in chunks. */
export async function* readLog(run: StoredRun, { follow, lines }: LogOptions): AsyncGenerator<string> {
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
      // One more round reads what the run wrote between the last read and its end.
      isOver = readRun(run.runDirectory)?.state !== "running";
      if (!isOver) await delay(LOOK_EVERY_MS);
    }
    yield decoder.decode();
  } finally {
    await file.close();
  }
}
