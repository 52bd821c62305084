import { shellQuote } from "../process/shellQuote.ts";

/** What a shell says when there is no such program. */
export const COMMAND_NOT_FOUND = 127;

/** The line for `sh` that runs an agent's command. */
export const commandLineOf = (command: readonly string[] | string): string =>
  typeof command === "string" ? command : command.map(shellQuote).join(" ");

export const programOf = (command: readonly string[] | string): string =>
  (typeof command === "string" ? command.trim().split(/\s+/)[0] : command[0]) ?? "";
