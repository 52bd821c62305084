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
 * Waits until the archive with the work is announced by a line on standard input, unpacks it, and waits until the work is
 * ready, which is when standard input ends. What makes it ready may run code of the work: others can write to that
 * input by then, and read what is written to it, but not end it.
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
