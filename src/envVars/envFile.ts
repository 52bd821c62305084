import { lstatSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { InvalidOptionsError } from "../errors.ts";
import { ENV_FILE } from "../options/configDirectory.ts";
import { envNameProblem } from "./envName.ts";

const refusal = (line: number, problem: string): InvalidOptionsError =>
  new InvalidOptionsError(ENV_FILE, `line ${line}: ${problem}`);

const EXPORT = /^\s*(export[ \t]+)?/;

const QUOTED_VALUE = /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*(["'`])/gm;

/** Refuses an unclosed quote: the parser would make it part of the value or drop the key. */
const checkQuotes = (text: string, parsed: Readonly<Record<string, string>>): void => {
  const quoted = new RegExp(QUOTED_VALUE);
  for (let match = quoted.exec(text); match !== null; match = quoted.exec(text)) {
    const [, name = "", quote = ""] = match;
    const end = text.indexOf(quote, quoted.lastIndex);
    if (end === -1 || parsed[name]?.startsWith(quote)) {
      const line = text.slice(0, match.index).split("\n").length;
      throw refusal(line, `the value of ${name} has no closing quote.`);
    }
    // Skip the value, whose text may look like a variable.
    quoted.lastIndex = end + 1;
  }
};

/** Invalid names are not shown: a part of an unquoted multi-line secret would be parsed as a name. */
const nameProblem = (name: string): string | undefined =>
  /^[\w.-]{1,40}$/.test(name)
    ? envNameProblem(name)
    : "this is not KEY=value, with letters, digits and _ in the KEY. A value of several lines needs quotes.";

const checkNames = (text: string, parsed: Readonly<Record<string, string>>): void => {
  for (const name of Object.keys(parsed)) {
    const problem = nameProblem(name);
    if (problem === undefined) continue;
    // A line without = becomes the beginning of the next name.
    const [beginning = ""] = name.split("\n");
    const line = text.split("\n").findIndex((line) => line.replace(EXPORT, "").startsWith(beginning));
    throw refusal(Math.max(line, 0) + 1, problem);
  }
};

/** Parses a text in the `.env` format; see docs/env.md for quotes and comments. */
export const parseEnvFile = (text: string): Record<string, string> => {
  const withoutMark = text.replace(/^\uFEFF/, "");
  const parsed = Object.fromEntries(
    // The parser keeps white space after `export` in the name.
    Object.entries(parseEnv(withoutMark)).map(([name, value = ""]) => [name.trim(), value]),
  );
  checkQuotes(withoutMark, parsed);
  checkNames(withoutMark, parsed);
  return parsed;
};

const OTHERS = 0o077;

/** Whether other accounts can read or change an env file. */
export const isOpenToOthers = (path: string): boolean =>
  ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0;

/** The variables of an env file; `undefined` if there is no such file. */
export const readEnvFile = (path: string): Record<string, string> | undefined => {
  let text: string;
  try {
    if (!lstatSync(path).isFile()) throw Object.assign(new Error(), { code: "not a regular file" });
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new InvalidOptionsError(ENV_FILE, `${path} cannot be read (${code}).`);
  }
  return parseEnvFile(text);
};
