import type { Command, Option } from "commander";

/** The command that the words of a command line name, and what may come next. */
export interface Found {
  readonly command: Command;
  /** The number of arguments so far. */
  readonly argumentCount: number;
  /** The flag whose value comes next. */
  readonly flag?: Option;
  /** There was no `--`, after which every word is an argument. */
  readonly takesFlags: boolean;
}

const flagNamed = (command: Command, word: string): Option | undefined =>
  command.options.find(({ long, short }) => word === long || word === short);

/** Adds one word. */
const follow = (found: Found, word: string): Found => {
  const { command, argumentCount, flag, takesFlags } = found;
  if (flag !== undefined) return { command, argumentCount, takesFlags };
  if (takesFlags && word === "--") return { ...found, takesFlags: false };
  if (takesFlags && word.startsWith("-") && word !== "-") {
    const known = flagNamed(command, word);
    return known?.required ? { ...found, flag: known } : found;
  }
  const next = argumentCount === 0 ? command.commands.find((child) => child.name() === word) : undefined;
  return next === undefined ? { ...found, argumentCount: argumentCount + 1 } : { ...found, command: next };
};

/** Finds the command that the words name. Unknown words are skipped. */
export const findCommand = (program: Command, words: readonly string[]): Found =>
  words.reduce(follow, { command: program, argumentCount: 0, takesFlags: true });

/** The words that call a command after `sanddune`, e.g. `docker build-image`. */
export const wordsOf = (command: Command): string[] =>
  command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
