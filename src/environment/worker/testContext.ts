import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { killMarked } from "../../process/killMarked.ts";
import { runProcess } from "../../process/runProcess.ts";
import type { ParameterValues } from "../contract.ts";
import type { SetupContext, TestCommandOptions, TestCommandResult } from "../definition.ts";
import type { TestPlace } from "./messages.ts";

/** Of each stream of a command, its end. */
const CAPTURE_BYTES = 256 * 1024;

const MARK = "SANDDUNE_TEST_ID";

/** What one test, or one set-up, works with. */
export interface OpenContext {
  readonly context: SetupContext;
  /** Ends the commands that still run, and what they have left in the background. */
  close(): void;
}

export const openContext = (place: TestPlace, parameters: ParameterValues): OpenContext => {
  const controller = new AbortController();
  const mark = randomUUID();
  let hasRunCommands = false;
  const run = async (command: string, options: TestCommandOptions = {}): Promise<TestCommandResult> => {
    const { cwd = ".", env, stdin, timeoutMs } = options;
    hasRunCommands = true;
    const startedAt = performance.now();
    const { exitCode, stdout, stderr } = await runProcess({
      program: "sh",
      args: ["-c", command],
      cwd: resolve(place.worktree, cwd),
      env: { ...process.env, ...env, [MARK]: mark },
      captureBytes: CAPTURE_BYTES,
      signal: controller.signal,
      ...(stdin !== undefined && { stdin }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    return { exitCode, stdout, stderr, durationMs: Math.round(performance.now() - startedAt) };
  };
  return {
    context: { parameters, ...place, signal: controller.signal, run },
    close: () => {
      controller.abort(new Error("the test has ended"));
      if (hasRunCommands) killMarked({ name: MARK, value: mark });
    },
  };
};
