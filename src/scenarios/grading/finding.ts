import { endOf } from "../../tools/shorten.ts";
/** What an assertion has found. */
export interface Finding {
  readonly ok: boolean;
  /** In words, also if all is well. */
  readonly detail: string;
}

/** How long finding it may take. */
export interface Patience {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Takes secrets out of a text. What is cut off before that may end in the middle of one, which nobody recognises then. */
export type Redact = (text: string) => string;

/** As much of a text as helps in a detail. */
const MAX_EXCERPT_CHARACTERS = 300;
/** As much of it as secrets are looked for in. */
export const MAX_REDACTED_CHARACTERS = 64 * 1024;

/** The beginning of a text of others, as a JSON string. */
export const quoteStart = (text: string, redact: Redact): string => {
  const redacted = redact(text.slice(0, MAX_REDACTED_CHARACTERS));
  return redacted.length > MAX_EXCERPT_CHARACTERS
    ? `${JSON.stringify(redacted.slice(0, MAX_EXCERPT_CHARACTERS))}…`
    : JSON.stringify(redacted);
};

/** The end of what a program printed, after a colon; nothing if it printed nothing. */
export const afterColon = (output: string): string => {
  const text = output.trim();
  if (text === "") return "";
  return `: ${endOf(text, MAX_EXCERPT_CHARACTERS)}`;
};
