import { pathToFileURL } from "node:url";
import { escaped } from "../tools/escaped.ts";
import { mapStrings } from "./jsonStrings.ts";
import { MAX_RECORD_LENGTH } from "./limits.ts";

/** From where to where a path changes between the host and a sandbox. */
export interface PathChange {
  readonly from: string;
  readonly to: string;
}

/**
 * Finds a path where it stands as a path: not as the end of a longer one, nor as the beginning of another name. In JSON
 * within a string, a line end is written with a letter.
 */
const pathPattern = (paths: readonly string[]): RegExp =>
  new RegExp(
    String.raw`(?:(?<![\p{L}\p{N}_.~/-])|(?<=\\[nrt]))(?:${paths.map(escaped).join("|")})(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}_])`,
    "gu",
  );

/** Moves the paths in an agent's record of a session from one place to another, and leaves everything else alone. */
export class PathRewriter {
  readonly #pattern: RegExp;
  readonly #sealed: ReadonlySet<string>;
  readonly #targets: ReadonlyMap<string, string>;

  constructor(
    moves: readonly PathChange[],
    /** Keys below which nothing may be changed. */
    sealedKeys: readonly string[] = [],
  ) {
    const asUrls = moves.map(({ from, to }) => ({
      from: pathToFileURL(from).href,
      to: pathToFileURL(to).href,
    }));
    this.#targets = new Map([...moves, ...asUrls].map(({ from, to }) => [from, to]));
    // The longest first: one may be within another.
    this.#pattern = pathPattern([...this.#targets.keys()].sort((one, other) => other.length - one.length));
    this.#sealed = new Set(sealedKeys);
  }

  text(text: string): string {
    return text.replace(this.#pattern, (path) => this.#targets.get(path) ?? path);
  }

  /** Whether it may hold a path. Some write characters in JSON in other ways than as they are. */
  #mayHoldPath(json: string): boolean {
    if (json.includes("\\/") || json.includes("\\u")) return true;
    return [...this.#targets.keys()].some((path) => json.includes(JSON.stringify(path).slice(1, -1)));
  }

  /**
   * A record as it stands in a file. What is no JSON, what holds no path, and what would take too much memory stays as
   * it is to the byte.
   */
  json(json: string): string {
    if (json.length > MAX_RECORD_LENGTH || !this.#mayHoldPath(json)) return json;
    try {
      JSON.parse(json);
    } catch {
      return json;
    }
    return mapStrings(json, this.#sealed, (text) => this.text(text));
  }
}
