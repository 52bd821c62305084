import type { AgentProgram } from "../../agents/contract.ts";
import { shellQuote } from "../../tools/shellQuote.ts";

/** What a shell says when there is no such program. */
export const COMMAND_NOT_FOUND = 127;

const lineOf = (command: AgentProgram["command"]): string =>
  typeof command === "string" ? command : command.map(shellQuote).join(" ");

/** What `sh` runs for an agent's program. */
export const commandLineOf = ({ command, setup }: AgentProgram): string =>
  setup === undefined ? lineOf(command) : `${setup}\n${lineOf(command)}`;

/** The name of the program itself, for those who are told that it is missing. */
export const programOf = ({ command }: AgentProgram): string =>
  (typeof command === "string" ? command.trim().split(/\s+/)[0] : command[0]) ?? "";
