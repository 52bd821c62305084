import { randomBytes } from "node:crypto";
import { ProcessStartError, ProcessTimeoutError } from "../../errors.ts";
import { environmentWithoutRepository } from "../../git/environmentWithoutRepository.ts";
import { hostPath } from "../../process/hostPrograms.ts";
import { killMarked } from "../../process/kill/killMarked.ts";
import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import { runProcess } from "../../process/runProcess.ts";
import { CAPTURE_BYTES, type CommandRunner, EXIT_NOT_FOUND, EXIT_TIMEOUT } from "./commandRunner.ts";

/** A mark in the environment, by which all processes of one sandbox are found and ended. */
export const createMark = (): string => `scenario-${randomBytes(8).toString("hex")}`;

/** Runs commands on the host, with the host's environment: only the suite decides what they are. */
export const hostCommandRunner = (projectRoot: string, mark = createMark()): CommandRunner => {
  return {
    projectRoot,
    run: async ({ argv: [program = "", ...args], env, timeoutMs, signal }) => {
      try {
        const { exitCode, stdout, stderr } = await runProcess({
          program,
          args,
          cwd: projectRoot,
          env: { ...environmentWithoutRepository(), PATH: hostPath(), ...env, [SANDBOX_VARIABLE]: mark },
          timeoutMs,
          signal,
          captureBytes: CAPTURE_BYTES,
        });
        return { code: exitCode, stdout, stderr };
      } catch (error) {
        if (error instanceof ProcessTimeoutError) {
          return { code: EXIT_TIMEOUT, stdout: error.stdout, stderr: `${error.stderr}\n${error.message}` };
        }
        if (error instanceof ProcessStartError) {
          return { code: EXIT_NOT_FOUND, stdout: "", stderr: error.message, isMissing: true };
        }
        throw error;
      }
    },
    close: () => killMarked({ name: SANDBOX_VARIABLE, value: mark, directory: projectRoot }),
  };
};
