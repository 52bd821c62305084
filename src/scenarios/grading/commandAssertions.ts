import {
  type CommandRunner,
  EXIT_NOT_FOUND,
  EXIT_TIMEOUT,
  type ScenarioCommand,
} from "../sandbox/commandRunner.ts";
import { afterColon, type Finding } from "./finding.ts";

/** A shell's exit code for a program that exists, but cannot be executed. */
const EXIT_NOT_EXECUTABLE = 126;

/** The usual meaning of these codes. The program itself may end with them, or a shell that it started. */
const MEANINGS: Readonly<Record<number, string>> = {
  [EXIT_NOT_FOUND]: "by convention: a program was not found",
  [EXIT_NOT_EXECUTABLE]: "by convention: a program cannot be executed",
};

/** Whether a command ends as expected. One that does not start, or not end in time, fails. */
export const checkCommand = async (
  commandRunner: CommandRunner,
  command: ScenarioCommand,
  expected: "zero" | "nonzero",
): Promise<Finding> => {
  const { code, stdout, stderr, isMissing } = await commandRunner.run(command);
  const output = afterColon(stderr.trim() === "" ? stdout : stderr);
  if (isMissing) return { ok: false, detail: `${JSON.stringify(command.argv[0])} was not found${output}` };
  const meaning = MEANINGS[code];
  if (meaning !== undefined) return { ok: false, detail: `exit code ${code} (${meaning})${output}` };
  if (code === EXIT_TIMEOUT) return { ok: false, detail: `it took too long${output}` };
  return { ok: (code === 0) === (expected === "zero"), detail: `exit code ${code}${output}` };
};
