const LINE_FEED = "\n";
const CARRIAGE_RETURN = "\r";

/** A program's output without the line ends at its end, as `$( )` in a shell. */
export const withoutFinalLineEnds = (text: string): string => {
  let end = text.length;
  // A regular expression would take quadratic time.
  while (text[end - 1] === LINE_FEED) end -= text[end - 2] === CARRIAGE_RETURN ? 2 : 1;
  return text.slice(0, end);
};
