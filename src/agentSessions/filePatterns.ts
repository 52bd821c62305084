import { escaped } from "../tools/escaped.ts";

/** One name of a pattern in which `*` stands for anything, but not for a name that is hidden. */
export const namePattern = (pattern: string): RegExp =>
  new RegExp(`^(?!\\.|$)${pattern.split("*").map(escaped).join("[^/\\0-\\x1f]*")}$`, "u");

/** Whether a relative path is one of those that the patterns stand for: it may come from a sandbox. */
export const matchesAny = (path: string, patterns: readonly string[]): boolean => {
  const names = path.split("/");
  return patterns.some((pattern) => {
    const wanted = pattern.split("/");
    return (
      wanted.length === names.length &&
      wanted.every((name, index) => namePattern(name).test(names[index] ?? ""))
    );
  });
};
