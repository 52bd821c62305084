const MAX_LENGTH = 512;
/** Longer ones are looked for by nobody. */
const MAX_PATH_LENGTH = 1024;

/** What is wrong with a glob; nothing, if it is one: `*` and `?` in a name, `**` for any number of directories. */
export const problemOfGlob = (glob: string): string | undefined => {
  if (glob === "" || glob.length > MAX_LENGTH) return `must have 1 to ${MAX_LENGTH} characters`;
  if (/[\u0000-\u001f\u007f\\]/.test(glob)) return "must have no backslash and no control character";
  const names = glob.split("/");
  if (names.includes("")) return "must be relative to the worktree, with one slash between names";
  if (names.some((name) => name === "." || name === "..")) return "must have no `.` and no `..` as a name";
  if (names.some((name) => name.includes("**") && name !== "**"))
    return "must have `**` as a whole name, or not at all";
  if (names.at(-1) === "**") return "must end with the name of a file: `**/*` is every file";
  return undefined;
};

/**
 * Whether items are what a pattern stands for, in which some parts stand for any number of items. Only the last such part is
 * tried anew: the time is that of one list times the other, where a regular expression would take for ever on what a
 * sandbox can make up.
 */
const fits = <Part, Item>(
  pattern: readonly Part[],
  items: readonly Item[],
  isMany: (part: Part) => boolean,
  stands: (part: Part, item: Item) => boolean,
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
    } else if (part !== undefined && stands(part, item)) {
      at++;
      index++;
    } else if (many !== -1 && stands(pattern[many] as Part, items[tried] as Item)) {
      at = many + 1;
      index = ++tried;
    } else return false;
  }
  return pattern.slice(at).every(isMany);
};

const isStar = (character: string): boolean => character === "*";
const characterFits = (part: string, character: string): boolean =>
  part === "*" || part === "?" || part === character;

/** A star stands for no name that is hidden. */
const nameFits = (part: string, name: string): boolean => {
  if (/^[*?]/.test(part) && name.startsWith(".")) return false;
  return part === "**" || fits([...part], [...name], isStar, characterFits);
};

/** Whether a path, relative to the worktree, is one of those that the globs stand for. It may come from a sandbox. */
export const artifactMatcher = (globs: readonly string[]): ((path: string) => boolean) => {
  const patterns = globs.map((glob) => glob.split("/"));
  return (path) => {
    if (path.length > MAX_PATH_LENGTH || /[\u0000-\u001f\u007f]/.test(path)) return false;
    const names = path.split("/");
    const isPlain = names.every((name) => name !== "" && name !== "." && name !== ".." && name !== ".git");
    return isPlain && patterns.some((pattern) => fits(pattern, names, (part) => part === "**", nameFits));
  };
};

/** The directories in which files can be that a glob stands for, as few as possible. */
export const startsOf = (globs: readonly string[]): string[] => {
  const starts = globs.map((glob) => {
    const names = glob.split("/").slice(0, -1);
    const first = names.findIndex((name) => /[*?]/.test(name));
    return (first === -1 ? names : names.slice(0, first)).join("/");
  });
  return [...new Set(starts)].filter(
    (start) => !starts.some((other) => other !== start && (other === "" || start.startsWith(`${other}/`))),
  );
};
