import { showDuration } from "../display/duration.ts";
import { neutralise } from "../display/neutralise.ts";
import { counted } from "../tools/counted.ts";
import { endOf, wellFormed } from "../tools/shorten.ts";

/** Escape sequences for colours and styles of a terminal. */
const STYLING = /\u001b\[[0-9;:]*m/g;

/** An untrusted text, made safe for any page: no control characters, valid Unicode, and valid in XML. */
export const harmless = (text: string): string =>
  wellFormed(neutralise(text.replace(STYLING, "").replaceAll("\r\n", "\n"))).replace(
    /[\ufffe\uffff]/g,
    "\ufffd",
  );

/** The end of an output without empty lines around it: HTML drops an empty first line. */
export const printed = (text: string | undefined, maxLength: number): string | undefined => {
  const shown = harmless(text ?? "")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
  return shown === "" ? undefined : endOf(shown, maxLength);
};

/** In UTC, so that a page rendered on a server does not change in a browser. */
export const showTime = (time: string): string =>
  `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;

export const showMs = (durationMs: number): string =>
  durationMs < 1000 ? `${Math.round(durationMs)} ms` : showDuration(durationMs);

export const notShown = (count: number, noun: string): string =>
  `${counted(count, noun)} ${count === 1 ? "is" : "are"} not shown.`;

/** Only web addresses become links: records are not trusted. */
export const webAddress = (url: string | undefined): string | undefined => {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
};
