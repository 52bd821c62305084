import { lastLines } from "../../tools/shorten.ts";
import { MAX_MESSAGE_LENGTH } from "../limits.ts";

/** Of longer output, only the beginning and the end are processed. */
const MAX_RAW_CHARACTERS = 64 * 1024;
const MAX_TAIL_LINES = 30;
const MAX_TAIL_CHARACTERS = 2000;

/** Colours and other terminal sequences; pytest writes their first character as `#x1B`. */
const TERMINAL_SEQUENCES =
  /(?:\u001b|#x1B)\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-Z\\^_]/g;
const UNREADABLE = /(?![\t\n])\p{Cc}|\p{Cs}/gu;

/** The beginning and the end of a long text: the expected value is at the one, the position at the other. */
const middleLeftOut = (text: string, maxCharacters: number): string => {
  if (text.length <= maxCharacters) return text;
  const half = Math.floor((maxCharacters - 3) / 2);
  return `${text.slice(0, half)}\n…\n${text.slice(-half)}`;
};

const plain = (text: string): string =>
  middleLeftOut(text, MAX_RAW_CHARACTERS)
    .replace(TERMINAL_SEQUENCES, "")
    .replace(/\r\n?/g, "\n")
    .replace(UNREADABLE, "");

/** Removes blank lines at both ends, and keeps the indentation. */
const trimLines = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();

/** A runner's message about a failure, for people and agents. */
export const readableMessage = (text: string): string =>
  middleLeftOut(trimLines(plain(text)), MAX_MESSAGE_LENGTH);

/** The end of the output, which usually shows the error. */
export const readableTail = (text: string): string =>
  lastLines(trimLines(plain(text)), MAX_TAIL_LINES, MAX_TAIL_CHARACTERS);
