import { shorten } from "../../tools/shorten.ts";

/** Below the path that a suite is mounted at: both together stay below what a test path may have. */
const MAX_CHARACTERS = 300;
const UNNAMED = "(unnamed)";

/** What no segment of a path has: control characters, halves of characters, line ends, and what turns text around. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\\]/gu;

/**
 * The segments that a name given by a test runner becomes. A slash in it divides it, so that paths look like the names that
 * people know; segments that would lead elsewhere are left out.
 */
const segmentsOf = (name: string): string[] =>
  name
    // Longer than any path may be: the rest need not be looked at.
    .slice(0, 4 * MAX_CHARACTERS)
    .replace(FORBIDDEN, "_")
    .split("/")
    .filter((segment) => segment.trim() !== "" && segment !== "." && segment !== "..");

/** The one way from the names of a test, outermost first, to its path. */
export const pathOfNames = (names: readonly string[]): string => {
  const segments = names.flatMap((name) => {
    const parts = segmentsOf(name);
    return parts.length === 0 ? [UNNAMED] : parts;
  });
  return shorten(segments.join("/").trim(), MAX_CHARACTERS) || UNNAMED;
};

/** Makes paths different from all that it has seen: the second `a` is `a (2)`. */
export class DistinctPaths {
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();

  add(path: string): string {
    let distinct = path;
    let count = this.#counts.get(path) ?? 1;
    while (this.#taken.has(distinct)) distinct = `${path} (${++count})`;
    this.#counts.set(path, count);
    this.#taken.add(distinct);
    return distinct;
  }
}
