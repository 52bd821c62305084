import { escaped } from "../process/escaped.ts";

const MAX_LENGTH = 512;
/** Longer ones are looked for by nobody, and would take long to be compared with several `**`. */
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

/** A star stands for no name that is hidden. */
const namePattern = (name: string): string =>
  (/^[*?]/.test(name) ? "(?!\\.)" : "") +
  name.replace(/[*?]|[^*?]+/g, (part) => {
    if (part === "*") return "[^/]*";
    return part === "?" ? "[^/]" : escaped(part);
  });

const globPattern = (glob: string): string =>
  glob
    .replace(/(?:\*\*\/)+/g, "**/")
    .split("/")
    .map((name) => (name === "**" ? "(?:(?!\\.)[^/]+/)*" : `${namePattern(name)}/`))
    .join("")
    .replace(/\/$/, "");

/** Whether a path, relative to the worktree, is one of those that the globs stand for. It may come from a sandbox. */
export const artifactMatcher = (globs: readonly string[]): ((path: string) => boolean) => {
  const patterns = globs.map((glob) => new RegExp(`^${globPattern(glob)}$`, "u"));
  return (path) => {
    const names = path.split("/");
    const isPlain = names.every((name) => name !== "" && name !== "." && name !== ".." && name !== ".git");
    if (!isPlain || path.length > MAX_PATH_LENGTH || /[\u0000-\u001f\u007f]/.test(path)) return false;
    return patterns.some((pattern) => pattern.test(path));
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
