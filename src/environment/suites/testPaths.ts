import { shorten } from "../../tools/shorten.ts";

/** Without the path of the suite: both together stay below the limit of a test path. */
const MAX_CHARACTERS = 300;
const UNNAMED = "(unnamed)";

/** Control characters, surrogates, line ends and characters that change the direction of text. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\\]/gu;

/**
 * The segments of a path for the name that a runner gives a test. A slash separates segments, so that paths look like the names that
 * people know. Segments such as `..` are left out.
 */
const segmentsOf = (name: string): string[] =>
  name
    // No path is longer.
    .slice(0, 4 * MAX_CHARACTERS)
    .replace(FORBIDDEN, "_")
    .split("/")
    .filter((segment) => segment.trim() !== "" && segment !== "." && segment !== "..");

/** The path of a test from its names, outermost first. */
export const pathOfNames = (names: readonly string[]): string => {
  const segments = names.flatMap((name) => {
    const parts = segmentsOf(name);
    return parts.length === 0 ? [UNNAMED] : parts;
  });
  return shorten(segments.join("/").trim(), MAX_CHARACTERS) || UNNAMED;
};

/** Makes paths unique: the second `a` becomes `a (2)`. */
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
