import { pathToFileURL } from "node:url";
import { escapeRegExp } from "../tools/escapeRegExp.ts";
import { mapStrings } from "./jsonStrings.ts";
import { MAX_RECORD_LENGTH } from "./limits.ts";

/** A path on one side, and the corresponding path on the other. */
export interface PathChange {
  readonly from: string;
  readonly to: string;
}

/** Finds a whole path, not part of a longer one. In nested JSON, a line end is an escape with a letter. */
const pathPattern = (paths: readonly string[]): RegExp =>
  new RegExp(
    String.raw`(?:(?<![\p{L}\p{N}_.~/-])|(?<=\\[nrt]))(?:${paths.map(escapeRegExp).join("|")})(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}_])`,
    "gu",
  );

/** Rewrites the paths in the records of a session, and nothing else. */
export class PathRewriter {
  readonly #pattern: RegExp;
  readonly #sealed: ReadonlySet<string>;
  readonly #targets: ReadonlyMap<string, string>;

  constructor(
    moves: readonly PathChange[],
    /** Keys whose values must not change. */
    sealedKeys: readonly string[] = [],
  ) {
    const asUrls = moves.map(({ from, to }) => ({
      from: pathToFileURL(from).href,
      to: pathToFileURL(to).href,
    }));
    this.#targets = new Map([...moves, ...asUrls].map(({ from, to }) => [from, to]));
    // The longest first, because one may contain another.
    this.#pattern = pathPattern([...this.#targets.keys()].sort((one, other) => other.length - one.length));
    this.#sealed = new Set(sealedKeys);
  }

  text(text: string): string {
    return text.replace(this.#pattern, (path) => this.#targets.get(path) ?? path);
  }

  /** Whether the text may contain a path. JSON may also contain it in an escaped form. */
  #mayHoldPath(json: string): boolean {
    if (json.includes("\\/") || json.includes("\\u")) return true;
    return [...this.#targets.keys()].some((path) => json.includes(JSON.stringify(path).slice(1, -1)));
  }

  /** Rewrites a record. One that is not JSON, has no path or is too long to parse stays the same. */
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
