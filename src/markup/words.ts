import { showDuration } from "../display/duration.ts";
import { neutralise } from "../display/neutralise.ts";

/** Colours and other typefaces of a terminal mean nothing on a page. */
const STYLING = /\u001b\[[0-9;:]*m/g;

/** A text of anybody's, as it can stand on any page: with no control characters, all of it Unicode, and XML. */
export const harmless = (text: string): string =>
  neutralise(text.replace(STYLING, "").replaceAll("\r\n", "\n"))
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(/[\ufffe\uffff]/g, "\ufffd");

/** The beginning of a text, in one line. */
export const briefly = (text: string, maxLength = 300): string => {
  const line = text
    .slice(0, maxLength * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength)}…`;
};

/** The end of a text, which is where a command says what went wrong. */
export const endOf = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `…${text.slice(-maxLength)}`;

/** The end of what a command printed, without empty lines around it, one of which HTML would swallow. */
export const printed = (text: string | undefined, maxLength: number): string | undefined => {
  const shown = harmless(text ?? "")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
  return shown === "" ? undefined : endOf(shown, maxLength);
};

/** The same for every reader, wherever it is rendered: a page made on a server must not change in a browser. */
export const showTime = (time: string): string =>
  `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;

export const showMs = (durationMs: number): string =>
  durationMs < 1000 ? `${Math.round(durationMs)} ms` : showDuration(durationMs);

/** `1 step`, `2 steps`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export const notShown = (count: number, noun: string): string =>
  `${counted(count, noun)} ${count === 1 ? "is" : "are"} not shown.`;

/** Only what leads to the web becomes a link: a record is not trusted to run anything. */
export const webAddress = (url: string | undefined): string | undefined => {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
};
