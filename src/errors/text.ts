import { shellQuote } from "../tools/shellQuote.ts";

/** The sentences that apply, one after the other. */
export const sentences = (...parts: (string | undefined | false)[]): string =>
  parts.filter(Boolean).join(" ");

/** The words of others as the end of a sentence. */
export const sentence = (words: string): string => (/[.!?…]$/.test(words) ? words : `${words}.`);

const tail = (text: string, bytes = 2000): string => {
  const trimmed = text.trim();
  return trimmed.length > bytes ? `…${trimmed.slice(-bytes)}` : trimmed;
};

/** What a program printed, as far as it helps, indented below a title; nothing if it printed nothing. */
export const block = (title: string, text: string): string => {
  const shown = tail(text);
  return shown === "" ? "" : `\n${title}:\n${shown.replace(/^/gm, "  ")}`;
};

/** What to type next: commands, each a program with its arguments. */
export const nextCommands = (commands: readonly (readonly string[])[]): string =>
  commands.length === 0
    ? ""
    : `\nNext:\n${commands.map((command) => `  ${command.map(shellQuote).join(" ")}`).join("\n")}`;
