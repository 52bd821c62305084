import { shellQuote } from "../tools/shellQuote.ts";
import { endOf } from "../tools/shorten.ts";

/** The sentences that apply, one after the other. */
export const sentences = (...parts: (string | undefined | false)[]): string =>
  parts.filter(Boolean).join(" ");

/** Text of another program as the end of a sentence. */
export const sentence = (words: string): string => (/[.!?…]$/.test(words) ? words : `${words}.`);

const MAX_PRINTED = 2000;

/** The end of a program's output, indented below a title; an empty text if it printed nothing. */
export const block = (title: string, text: string): string => {
  const shown = endOf(text.trim(), MAX_PRINTED);
  return shown === "" ? "" : `\n${title}:\n${shown.replace(/^/gm, "  ")}`;
};

/** The next commands, each a program with its arguments. */
export const nextCommands = (commands: readonly (readonly string[])[]): string =>
  commands.length === 0
    ? ""
    : `\nNext:\n${commands.map((command) => `  ${command.map(shellQuote).join(" ")}`).join("\n")}`;
