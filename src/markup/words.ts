import { showDuration } from "../display/duration.ts";
import { neutralise } from "../display/neutralise.ts";
import { counted } from "../tools/counted.ts";
import { endOf, wellFormed } from "../tools/shorten.ts";

/** Colours and other typefaces of a terminal mean nothing on a page. */
const STYLING = /\u001b\[[0-9;:]*m/g;

/** A text of anybody's, as it can stand on any page: with no control characters, all of it Unicode, and XML. */
export const harmless = (text: string): string =>
  wellFormed(neutralise(text.replace(STYLING, "").replaceAll("\r\n", "\n"))).replace(
    /[\ufffe\uffff]/g,
    "\ufffd",
  );

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

export const notShown = (count: number, noun: string): string =>
  `${counted(count, noun)} ${count === 1 ? "is" : "are"} not shown.`;

/** Only what leads to the web becomes a link: a record is not trusted to run anything. */
export const webAddress = (url: string | undefined): string | undefined => {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
};
