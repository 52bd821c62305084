/** Makes a word that `sh` takes literally, whatever it holds (but NUL). */
export const shellQuote = (word: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
