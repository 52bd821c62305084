import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { EnvironmentStartError } from "../../errors.ts";
import { runProcess } from "../../process/runProcess.ts";
import { orAborted } from "../../tools/wait/onAbort.ts";
import { firstLine } from "./firstLine.ts";
import { say } from "./say.ts";

const unpack = async (archive: string, tree: string, signal: AbortSignal): Promise<void> => {
  await mkdir(tree, { recursive: true });
  const { exitCode, stderr } = await runProcess({
    program: "tar",
    args: ["-xf", archive, "-C", tree],
    signal,
  });
  if (exitCode !== 0) throw new EnvironmentStartError("the commit could not be unpacked", stderr);
  await rm(archive, { force: true });
};

/**
 * Waits for a line on standard input, which announces the archive with the work, unpacks it, and waits until standard input ends,
 * which means that the work is ready. Hooks that prepare the work may run its code: that could write to this input and read from
 * it, but not end it.
 */
export const takeWork = async (archive: string, tree: string, signal: AbortSignal): Promise<void> => {
  say({ type: "waiting" });
  await orAborted(firstLine(process.stdin), signal);
  await unpack(archive, tree, signal);
  say({ type: "unpacked" });
  if (process.stdin.readableEnded) return;
  const ended = once(process.stdin, "end");
  process.stdin.resume();
  await orAborted(ended, signal);
};
