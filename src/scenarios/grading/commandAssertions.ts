import { EXIT_NOT_FOUND, EXIT_TIMEOUT, type WorkCommand, type Workplace } from "../workplace.ts";
import { afterColon, type Finding } from "./finding.ts";

/** A shell's word for a program that is there, but cannot be executed. */
const EXIT_NOT_EXECUTABLE = 126;

/** Whether a command ends as expected. One that could not be started, or did not end, says nothing either way. */
export const checkCommand = async (
  workplace: Workplace,
  command: WorkCommand,
  expected: "zero" | "nonzero",
): Promise<Finding> => {
  const { code, stdout, stderr } = await workplace.run(command);
  const output = afterColon(stderr.trim() === "" ? stdout : stderr);
  const program = JSON.stringify(command.argv[0]);
  if (code === EXIT_NOT_FOUND) return { ok: false, detail: `${program} was not found${output}` };
  if (code === EXIT_NOT_EXECUTABLE) return { ok: false, detail: `${program} cannot be executed${output}` };
  if (code === EXIT_TIMEOUT) return { ok: false, detail: `it took too long${output}` };
  return { ok: (code === 0) === (expected === "zero"), detail: `exit code ${code}${output}` };
};
