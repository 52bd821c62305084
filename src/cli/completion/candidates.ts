import type { Argument, Command, Option } from "commander";
import { type Found, findCommand } from "../findCommand.ts";
import { runCandidates } from "./runs.ts";

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** Completions of a command line: words, or paths, which the shell completes itself. */
export type Candidates = readonly Candidate[] | "files" | "directories";

const HELP = "help";

/** A flag and its value in one word, as `--agent=pi`. */
const ASSIGNMENT = /^(--[\w-]+)=(.*)$/s;

/** The visible flags of a command. */
const flagCandidates = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));

const commandCandidates = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ value: child.name(), description: child.description() }));

/** The name between the brackets of `<file>` or `[run]`. */
const placeholderOf = (target: Option | Argument): string | undefined =>
  "flags" in target ? /[<[]([^\]>]+)/.exec(target.flags)?.[1] : target.name();

/** The values of a flag or an argument: its choices, or those of the kind that its placeholder names. */
const valueCandidates = async (
  target: Option | Argument,
  command: Command,
  words: readonly string[],
): Promise<Candidates> => {
  if (target.argChoices !== undefined) {
    return target.argChoices.map((value) => ({ value, description: "" }));
  }
  switch (placeholderOf(target)) {
    case "file":
    case "path":
      return "files";
    case "dir":
      return "directories";
    case "run":
      return runCandidates(command, words);
    default:
      return [];
  }
};

const wordCandidates = async (
  found: Found,
  current: string,
  words: readonly string[],
): Promise<Candidates> => {
  const { command, argumentCount, takesFlags } = found;
  if (takesFlags && current.startsWith("-")) return flagCandidates(command);
  if (argumentCount === 0 && command.commands.length > 0) return commandCandidates(command);
  const argument = command.registeredArguments[argumentCount] ?? command.registeredArguments.at(-1);
  // A prompt cannot be completed, so the flags are proposed.
  const isKnown = argument !== undefined && argument.name() !== "prompt";
  if (isKnown && (argument.variadic || argumentCount < command.registeredArguments.length)) {
    return valueCandidates(argument, command, words);
  }
  return takesFlags ? flagCandidates(command) : [];
};

const beginningWith = (candidates: Candidates, beginning: string): Candidates =>
  typeof candidates === "string" ? candidates : candidates.filter(({ value }) => value.startsWith(beginning));

/** bash splits `--agent=pi` into three words. */
const joinAssignments = (words: readonly string[]): string[] =>
  words.flatMap((word, index) => {
    const isEquals = word === "=" && words[index - 1]?.startsWith("--");
    if (!isEquals) return [word];
    return index === words.length - 1 ? [""] : [];
  });

/** Completions of the last word, which may be empty. The words are those after the program's name. */
export const candidatesFor = async (program: Command, given: readonly string[]): Promise<Candidates> => {
  const words = joinAssignments(given);
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  if (before[0] === HELP) return beginningWith(commandCandidates(program), current);
  const found = findCommand(program, before);
  if (found.flag !== undefined) {
    return beginningWith(await valueCandidates(found.flag, found.command, words), current);
  }
  const [, name, beginning = ""] = (found.takesFlags && ASSIGNMENT.exec(current)) || [];
  const flag = found.command.options.find(({ long }) => long === name);
  if (flag === undefined) return beginningWith(await wordCandidates(found, current, words), current);
  const values = beginningWith(await valueCandidates(flag, found.command, words), beginning);
  if (typeof values === "string") return values;
  return values.map(({ value, description }) => ({ value: `${name}=${value}`, description }));
};
