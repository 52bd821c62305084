import { endOf } from "../../tools/shorten.ts";
export interface Finding {
  readonly ok: boolean;
  /** A description of what was found, also if the assertion holds. */
  readonly detail: string;
}

export interface TimeLimit {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Redacts a text. Cut the text after redaction: a part of a secret is not recognised. */
export type Redact = (text: string) => string;

/** How much of a text a detail quotes. */
const MAX_EXCERPT_CHARACTERS = 300;
/** How much of a text is searched for secrets. */
export const MAX_REDACTED_CHARACTERS = 64 * 1024;

/** The beginning of an untrusted text, as a JSON string. */
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
