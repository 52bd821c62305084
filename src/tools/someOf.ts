const MAX_NAMED = 5;

/** The first names of a list, and how many more it has: `a, b and 3 more`. */
export const someOf = (names: readonly string[]): string =>
  names.length <= MAX_NAMED
    ? names.join(", ")
    : `${names.slice(0, MAX_NAMED).join(", ")} and ${names.length - MAX_NAMED} more`;

/** The same for paths, which are quoted if they hold unusual characters. */
export const somePaths = (paths: readonly string[]): string =>
  someOf(paths.map((path) => (/^[\p{Letter}\p{Number}._/+@=-]+$/u.test(path) ? path : JSON.stringify(path))));
