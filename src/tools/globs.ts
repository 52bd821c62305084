const MAX_LENGTH = 512;
/** No file is looked for under a longer path. */
const MAX_PATH_LENGTH = 1024;

/** The problem of a glob; `undefined` if it is valid: `*` and `?` in a name, `**` for any number of directories. */
export const globProblem = (glob: string): string | undefined => {
  if (glob === "" || glob.length > MAX_LENGTH) return `must have 1 to ${MAX_LENGTH} characters`;
  if (/[\u0000-\u001f\u007f\\]/.test(glob)) return "must have no backslash and no control character";
  const names = glob.split("/");
  if (names.includes("")) return "must be a relative path, with one slash between names";
  if (names.some((name) => name === "." || name === "..")) return "must have no `.` and no `..` as a name";
  if (names.some((name) => name.includes("**") && name !== "**"))
    return "must have `**` as a whole name, or not at all";
  if (names.at(-1) === "**") return "must end with the name of a file: `**/*` is every file";
  return undefined;
};

/**
 * Whether a pattern matches a list; a part for which `isMany` holds matches any number of items. Only the last such part is
 * tried again, so the time is at most the product of both lengths: a regular expression could take exponential time on a
 * path that a sandbox made up.
 */
const matchesList = <Part, Item>(
  pattern: readonly Part[],
  items: readonly Item[],
  isMany: (part: Part) => boolean,
  matches: (part: Part, item: Item) => boolean,
): boolean => {
  let at = 0;
  let many = -1;
  let tried = 0;
  let index = 0;
  while (index < items.length) {
    const part = pattern[at];
    const item = items[index] as Item;
    if (part !== undefined && isMany(part)) {
      many = at++;
      tried = index;
    } else if (part !== undefined && matches(part, item)) {
      at++;
      index++;
    } else if (many !== -1 && matches(pattern[many] as Part, items[tried] as Item)) {
      at = many + 1;
      index = ++tried;
    } else return false;
  }
  return pattern.slice(at).every(isMany);
};

const isStar = (character: string): boolean => character === "*";
const matchesCharacter = (part: string, character: string): boolean =>
  part === "*" || part === "?" || part === character;

/** A wildcard at the beginning does not match a hidden name. */
const matchesName = (part: string, name: string): boolean => {
  if (/^[*?]/.test(part) && name.startsWith(".")) return false;
  return part === "**" || matchesList([...part], [...name], isStar, matchesCharacter);
};

/** Whether a relative path, which may come from a sandbox, matches one of the globs. No path into a git directory does. */
export const globMatcher = (globs: readonly string[]): ((path: string) => boolean) => {
  const patterns = globs.map((glob) => glob.split("/"));
  return (path) => {
    if (path.length > MAX_PATH_LENGTH || /[\u0000-\u001f\u007f]/.test(path)) return false;
    const names = path.split("/");
    const isPlain = names.every((name) => name !== "" && name !== "." && name !== ".." && name !== ".git");
    return (
      isPlain && patterns.some((pattern) => matchesList(pattern, names, (part) => part === "**", matchesName))
    );
  };
};

/** The directories that can hold files that match, as few as possible. */
export const globRoots = (globs: readonly string[]): string[] => {
  const roots = globs.map((glob) => {
    const names = glob.split("/").slice(0, -1);
    const first = names.findIndex((name) => /[*?]/.test(name));
    return (first === -1 ? names : names.slice(0, first)).join("/");
  });
  return [...new Set(roots)].filter(
    (root) => !roots.some((other) => other !== root && (other === "" || root.startsWith(`${other}/`))),
  );
};
