import { Command } from "commander";
import { print } from "../shared/output.ts";
import { type Candidates, candidatesFor } from "./candidates.ts";

/** Values that a shell could split or expand are not proposed. */
const SAFE_VALUE = /^[\w@%+=:,./-]+$/;

/** One candidate per line, with its description after a tab. A line with a colon asks the shell to complete paths. */
const linesOf = (candidates: Candidates): string[] =>
  typeof candidates === "string"
    ? [`:${candidates}`]
    : candidates
        .filter(({ value }) => SAFE_VALUE.test(value))
        .map(({ value, description }) => `${value}\t${description.replace(/\s+/g, " ")}`);

/**
 * `sanddune complete`: the scripts of `sanddune completions` call it at every press of the tab key. A failure yields no
 * candidates, because an error message would break the prompt.
 */
export const createCompleteCommand = (): Command =>
  new Command("complete")
    .description("Prints the completions of the last word.")
    .argument("[words...]", "the words after the program's name")
    .action(async (words: readonly string[], _flags: unknown, command: Command) => {
      const program = command.parent ?? command;
      const candidates = await candidatesFor(program, words).catch((): Candidates => []);
      const lines = linesOf(candidates);
      if (lines.length > 0) await print(lines.join("\n"));
    });
