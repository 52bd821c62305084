const LINE_FEED = "\n";
const CARRIAGE_RETURN = "\r";

/** What a program printed, without the line ends at its end, as `$( )` in a shell. */
export const withoutFinalLineEnds = (text: string): string => {
  let end = text.length;
  // Not a regular expression: those that do this take a time that grows with the square of the text.
  while (text[end - 1] === LINE_FEED) end -= text[end - 2] === CARRIAGE_RETURN ? 2 : 1;
  return text.slice(0, end);
};
