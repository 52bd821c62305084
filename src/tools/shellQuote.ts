/** Quotes a word so that `sh` takes it literally. It may hold anything but NUL. */
export const shellQuote = (word: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** A line for `sh` that runs a program with exactly these arguments. */
export const shellLine = (argv: readonly string[]): string => argv.map(shellQuote).join(" ");
