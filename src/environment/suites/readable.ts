import { lastLines } from "../../tools/shorten.ts";
import { MAX_MESSAGE_LENGTH } from "../limits.ts";

/** Looked at, of what somebody prints: the beginning and the end. */
const MAX_RAW_CHARACTERS = 64 * 1024;
const MAX_TAIL_LINES = 30;
const MAX_TAIL_CHARACTERS = 2000;

/** Colours and other orders to a terminal; pytest writes their first character as `#x1B`. */
const TERMINAL_ORDERS =
  /(?:\u001b|#x1B)\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-Z\\^_]/g;
const UNREADABLE = /(?![\t\n])\p{Cc}|\p{Cs}/gu;

/** Its beginning and its end, if it is too long: what was expected is at the one, where it happened at the other. */
const middleLeftOut = (text: string, maxCharacters: number): string => {
  if (text.length <= maxCharacters) return text;
  const half = Math.floor((maxCharacters - 3) / 2);
  return `${text.slice(0, half)}\n…\n${text.slice(-half)}`;
};

const plain = (text: string): string =>
  middleLeftOut(text, MAX_RAW_CHARACTERS)
    .replace(TERMINAL_ORDERS, "")
    .replace(/\r\n?/g, "\n")
    .replace(UNREADABLE, "");

/** Blank lines at both ends go, an indentation stays. */
const trimLines = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();

/** What a runner says about a failure, for people and agents to read. */
export const readableMessage = (text: string): string =>
  middleLeftOut(trimLines(plain(text)), MAX_MESSAGE_LENGTH);

/** The end of what was printed, which is where a reader finds out what went wrong. */
export const readableTail = (text: string): string =>
  lastLines(trimLines(plain(text)), MAX_TAIL_LINES, MAX_TAIL_CHARACTERS);
