import { Command } from "commander";
import { print } from "../shared/output.ts";
import { type Candidates, candidatesFor } from "./candidates.ts";

/** What a shell could take for more than a word is not offered to it. */
const SAFE_VALUE = /^[\w@%+=:,./-]+$/;

/** One candidate a line, with its description after a tab; a line that begins with a colon is for the shell to do. */
const linesOf = (candidates: Candidates): string[] =>
  typeof candidates === "string"
    ? [`:${candidates}`]
    : candidates
        .filter(({ value }) => SAFE_VALUE.test(value))
        .map(({ value, description }) => `${value}\t${description.replace(/\s+/g, " ")}`);

/**
 * `sanddune complete`: what the scripts of `sanddune completions` ask at every press of the tab key. A failure is no
 * candidates: at that moment nobody wants to read an error.
 */
export const createCompleteCommand = (): Command =>
  new Command("complete")
    .description("Prints what the last of some words could become.")
    .argument("[words...]", "the words after the program's name")
    .action(async (words: readonly string[], _flags: unknown, command: Command) => {
      const program = command.parent ?? command;
      const candidates = await candidatesFor(program, words).catch((): Candidates => []);
      const lines = linesOf(candidates);
      if (lines.length > 0) await print(lines.join("\n"));
    });
