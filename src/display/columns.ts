/** Characters that are at most one column wide: most alphabets, punctuation, arrows, lines, spinners. */
const NARROW = /^[\u0020-\u10ff\u2000-\u25ff\u2700-\u27bf\u2800-\u28ff]$/;

/** The largest number of columns that a text may take. */
export const widthOf = (text: string): number => {
  let width = 0;
  for (const character of text) width += NARROW.test(character) ? 1 : 2;
  return width;
};

/** Cuts a text to a number of columns. */
export const shortenTo = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text;
  let width = 1;
  let shown = "";
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    shown += character;
  }
  return `${shown}…`;
};

/** Breaks a text between words into lines of at most so many columns. A longer word, such as a path, stays whole. */
export const wrapTo = (text: string, columns: number): string[] => {
  const lines: string[][] = [[]];
  let width = 0;
  for (const word of text.split(" ")) {
    const wordWidth = widthOf(word);
    const line = lines.at(-1) as string[];
    if (line.length > 0 && width + 1 + wordWidth > columns) {
      lines.push([word]);
      width = wordWidth;
    } else {
      width += wordWidth + (line.length === 0 ? 0 : 1);
      line.push(word);
    }
  }
  return lines.map((line) => line.join(" "));
};
