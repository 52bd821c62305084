import { resolve } from "node:path";
import { isFile } from "../../tools/files/entries.ts";

const PLACEHOLDERS = ["{subcommand}", "{projectRoot}", "{baseUrl}", "{...flags}"];
const PLACEHOLDER = /\{(?:\.\.\.)?\w+\}/g;

/** The problem of a `cliCommand`, if it has one. */
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
    : "{subcommand} is missing, so all cli steps would run the same command";
};

/**
 * Makes the paths of a `cliCommand` absolute, because steps run in the project: its program, and its first argument,
 * which may be the script of an interpreter. They are looked up in the given directories, in this order.
 */
export const absoluteCliCommand = (command: readonly string[], directories: readonly string[]): string[] =>
  command.map((word, index) => {
    // A program without a slash is looked up in the PATH, not in the suite.
    const canBePath = index === 0 ? word.includes("/") : index === 1 && word !== "";
    const places = canBePath ? directories.map((directory) => resolve(directory, word)) : [];
    return places.find(isFile) ?? word;
  });
