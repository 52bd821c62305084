import type { Command } from "commander";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";

/** One example of a command's help. */
export interface Example {
  /** The user's goal, as a sentence without its full stop. */
  readonly title: string;
  /** The command, in one line or several. The help replaces `sanddune` by the command that starts it here. */
  readonly command: string;
}

const NAME = /(?<![\w./-])sanddune(?= [a-z])/g;

const COLUMNS = 80;

/** Breaks a long line before a flag or an operator of the shell. */
const wrapped = (line: string): string => {
  const [, head, rest] = /^(.{10,78}) ((?:--|&&|> ).*)$/.exec(line) ?? [];
  return line.length <= COLUMNS || rest === undefined ? line : `${head} \\\n${wrapped(`        ${rest}`)}`;
};

/** A line that ends with a backslash continues in the next one; every other line is a command of its own. */
const show = ({ title, command }: Example): string => {
  const typed = command.replaceAll(NAME, () => sandduneCommand());
  const lines = typed.split("\n").map((line, index, all) => {
    const isContinued = all[index - 1]?.endsWith("\\") ?? false;
    return wrapped(isContinued ? `        ${line.trim()}` : `    $ ${line.trim()}`);
  });
  return [`  ${title}:`, ...lines].join("\n");
};

/**
 * Adds examples to the help of a command. Every command has at least one.
 *
 * @example
 * withExamples(command, { title: "Follow a run", command: "sanddune logs --follow 7f3a" });
 */
export const withExamples = (command: Command, ...examples: readonly Example[]): Command =>
  command.addHelpText("after", () => `\nExamples:\n${examples.map(show).join("\n\n")}`);
