/**
 * Makes control characters visible, so that an agent's output cannot control the terminal: move the cursor, set the
 * title, write to the clipboard. Keeps tabs and line ends.
 */
export const neutralise = (text: string): string =>
  text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
