/** Half of a surrogate pair: a strict reader of JSON or XML refuses the whole text for one. */
const HALF_CHARACTERS = /\p{Surrogate}/gu;

export const wellFormed = (text: string): string => text.replace(HALF_CHARACTERS, "\ufffd");

/** The beginning of a text, of at most `maxLength` characters; an ellipsis says that the text was longer. */
export const shorten = (text: string, maxLength: number): string =>
  wellFormed(text.length <= maxLength ? text : `${text.slice(0, Math.max(0, maxLength - 1))}…`);

export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The beginning of a text, in one line. */
export const briefly = (text: string, maxLength = 300): string =>
  shorten(oneLine(text.slice(0, maxLength * 4)), maxLength);

/** The end of a text: a command that fails says at the end what went wrong. */
export const endOf = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `…${text.slice(-maxLength)}`;

export const lastLines = (text: string, maxLines: number, maxLength: number): string => {
  const lines = text.split("\n");
  const last = lines.slice(-maxLines).join("\n");
  const shown = last.slice(-maxLength);
  return lines.length > maxLines || shown.length < last.length ? `…\n${shown}` : shown;
};
