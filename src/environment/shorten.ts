/** Half of a character in two parts. Strict readers of JSON refuse the whole message for one. */
const HALF_CHARACTERS = /\p{Surrogate}/gu;

/** A text that everybody can read, of at most so many characters; an ellipsis says that it was longer. */
export const shorten = (text: string, maxLength: number): string => {
  const shown = text.length <= maxLength ? text : `${text.slice(0, Math.max(0, maxLength - 1))}…`;
  return shown.replace(HALF_CHARACTERS, "\ufffd");
};
