import type { AgentProgram } from "../../agents/contract.ts";
import { shellQuote } from "../../tools/shellQuote.ts";

/** The exit code of a shell that does not find a program. */
export const COMMAND_NOT_FOUND = 127;

const lineOf = (command: AgentProgram["command"]): string =>
  typeof command === "string" ? command : command.map(shellQuote).join(" ");

/** The command that `sh` runs to start an agent's program. */
export const commandLineOf = ({ command, setup }: AgentProgram): string =>
  setup === undefined ? lineOf(command) : `${setup}\n${lineOf(command)}`;

/** The name of the program, for the error that says that it is missing. */
export const programOf = ({ command }: AgentProgram): string =>
  (typeof command === "string" ? command.trim().split(/\s+/)[0] : command[0]) ?? "";
