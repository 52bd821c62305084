import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { checkedOptions } from "../../options/checks/checks.ts";
import { killMarkedNow } from "../../process/kill/killMarked.ts";
import { runProcess } from "../../process/runProcess.ts";
import type { ParameterValues } from "../contract.ts";
import type { SetupContext, TestCommandOptions, TestCommandResult } from "../definition/definition.ts";
import { COMMAND_OPTIONS } from "./commandOptions.ts";
import { outputLimits } from "./commandOutput.ts";
import type { TestPlace } from "./messages.ts";

const MARK = "SANDDUNE_TEST_ID";

/** The context of a test or of a set-up. */
export interface OpenContext {
  readonly context: SetupContext;
  /** Ends commands that still run, and their background processes. */
  close(): void;
}

export const openContext = (place: TestPlace, parameters: ParameterValues): OpenContext => {
  const controller = new AbortController();
  const mark = randomUUID();
  let hasRunCommands = false;
  const run = async (command: string, options: TestCommandOptions = {}): Promise<TestCommandResult> => {
    const given = checkedOptions(options, COMMAND_OPTIONS);
    const { cwd = ".", env, stdin, timeoutMs, captureBytes } = given;
    hasRunCommands = true;
    const startedAt = performance.now();
    const result = await runProcess({
      program: "sh",
      args: ["-c", command],
      cwd: resolve(place.worktree, cwd),
      env: { ...process.env, ...env, [MARK]: mark },
      ...outputLimits(command, captureBytes),
      signal: controller.signal,
      ...(stdin !== undefined && { stdin }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    const { exitCode, stdout, stderr, stdoutTruncated, stderrTruncated } = result;
    const durationMs = Math.round(performance.now() - startedAt);
    return { exitCode, stdout, stderr, stdoutTruncated, stderrTruncated, durationMs };
  };
  return {
    context: { parameters, ...place, signal: controller.signal, run },
    close: () => {
      controller.abort(new Error("the test has ended"));
      if (hasRunCommands) killMarkedNow({ name: MARK, value: mark });
    },
  };
};
