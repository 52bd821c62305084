import { statSync } from "node:fs";
import { resolve } from "node:path";

const PLACEHOLDERS = ["{subcommand}", "{projectRoot}", "{baseUrl}", "{...flags}"];
const PLACEHOLDER = /\{(?:\.\.\.)?\w+\}/g;

/** Says what is wrong with a `cliCommand`, or nothing. */
export const cliCommandProblem = (command: readonly string[]): string | undefined => {
  for (const word of command) {
    const unknown = word.match(PLACEHOLDER)?.find((placeholder) => !PLACEHOLDERS.includes(placeholder));
    if (unknown !== undefined) {
      return `there is no placeholder ${unknown}. Expected one of: ${PLACEHOLDERS.join(", ")}`;
    }
    if (word.includes("{...flags}") && word !== "{...flags}") {
      return `{...flags} stands for any number of arguments: it cannot be a part of ${JSON.stringify(word)}`;
    }
  }
  return command.some((word) => word.includes("{subcommand}"))
    ? undefined
    : "{subcommand} is missing: all cli steps would do the same";
};

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/**
 * Makes the paths of a `cliCommand` absolute, because steps run in the project: its program, and its first argument, which
 * is what an interpreter runs. They are looked for in the given directories, in this order.
 */
export const absoluteCliCommand = (command: readonly string[], directories: readonly string[]): string[] =>
  command.map((word, index) => {
    // A program without a slash is one of the PATH, whatever files the suite has.
    const canBePath = index === 0 ? word.includes("/") : index === 1 && word !== "";
    const places = canBePath ? directories.map((directory) => resolve(directory, word)) : [];
    return places.find(isFile) ?? word;
  });
