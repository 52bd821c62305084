import type { Command } from "commander";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";

/** One example of a command's help. */
export interface Example {
  /** What somebody wants, as a sentence without its full stop. */
  readonly title: string;
  /** The command, in one line or several. In the help, `sanddune` becomes what starts it here. */
  readonly command: string;
}

const NAME = /(?<![\w./-])sanddune(?= [a-z])/g;

/** A line goes on after a backslash; every other one is typed on its own. */
const show = ({ title, command }: Example): string => {
  const typed = command.replaceAll(NAME, () => sandduneCommand());
  const lines = typed.split("\n").map((line, index, all) => {
    const goesOn = all[index - 1]?.endsWith("\\") ?? false;
    return goesOn ? `        ${line.trim()}` : `    $ ${line.trim()}`;
  });
  return [`  ${title}:`, ...lines].join("\n");
};

/**
 * Adds examples to the help of a command. Every command has some.
 *
 * @example
 * withExamples(command, { title: "Follow a run", command: "sanddune logs --follow 7f3a" });
 */
export const withExamples = (command: Command, ...examples: readonly Example[]): Command =>
  command.addHelpText("after", () => `\nExamples:\n${examples.map(show).join("\n\n")}`);
