const MAX_NAMED = 5;

/** A few of many names, for a sentence. */
export const someOf = (names: readonly string[]): string =>
  names.length <= MAX_NAMED
    ? names.join(", ")
    : `${names.slice(0, MAX_NAMED).join(", ")} and ${names.length - MAX_NAMED} more`;

/** The same of paths, which may hold anything. */
export const somePaths = (paths: readonly string[]): string =>
  someOf(paths.map((path) => (/^[\p{Letter}\p{Number}._/+@=-]+$/u.test(path) ? path : JSON.stringify(path))));
