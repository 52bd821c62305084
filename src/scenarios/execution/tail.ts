const MAX_LINES = 30;
const MAX_CHARACTERS = 8000;

/** The end of what was printed, which is where a reader finds out what went wrong. */
export const tail = (text: string): string => {
  const lines = text.trimEnd().split("\n");
  const last = lines.slice(-MAX_LINES).join("\n");
  const shown = last.slice(-MAX_CHARACTERS);
  return lines.length > MAX_LINES || shown.length < last.length ? `…\n${shown}` : shown;
};
