import { type LineProblem, TextProblem } from "./textProblem.ts";

/** A value of a JSON text, with its line. */
export interface JsonNode {
  readonly line: number;
  readonly value: unknown;
  /** Of an object. */
  readonly members?: ReadonlyMap<string, JsonMember>;
  /** Of a list. */
  readonly items?: readonly JsonNode[];
}

export interface JsonMember {
  /** The line of its key. */
  readonly line: number;
  readonly node: JsonNode;
}

/** Deeper than any sensible file, and far below the limit of the stack. */
const MAX_DEPTH = 100;

const BLANK = /[ \t\r\n]*/y;
const STRING = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
const WORD = /(?:true|false|null)\b/y;

class Reader {
  readonly problems: LineProblem[] = [];
  #position = 0;
  #line: number;

  constructor(
    readonly text: string,
    firstLine: number,
  ) {
    this.#line = firstLine;
  }

  readAll(): JsonNode {
    const node = this.#readValue(0);
    if (this.#next() !== "") this.#fail(`there is more after the end of the JSON: ${this.#shown()}`);
    return node;
  }

  /** The next character that is not blank; empty at the end. */
  #next(): string {
    const blanks = this.#take(BLANK) ?? "";
    this.#line += blanks.split("\n").length - 1;
    return this.text.charAt(this.#position);
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.#position;
    const found = token.exec(this.text)?.[0];
    this.#position += found?.length ?? 0;
    return found;
  }

  #accept(character: string): boolean {
    const isThere = this.#next() === character;
    if (isThere) this.#position += 1;
    return isThere;
  }

  #shown(): string {
    const rest = this.text.slice(this.#position).split("\n", 1)[0]?.trimEnd() ?? "";
    return rest === "" ? "nothing" : JSON.stringify(rest.slice(0, 40));
  }

  #fail(problem: string): never {
    throw new TextProblem(this.#line, problem);
  }

  #readValue(depth: number): JsonNode {
    const first = this.#next();
    if (depth > MAX_DEPTH) this.#fail(`it is nested more than ${MAX_DEPTH} levels deep`);
    const line = this.#line;
    if (first === "{") return { line, ...this.#readObject(depth) };
    if (first === "[") return { line, ...this.#readList(depth) };
    if (first === '"') return { line, value: this.#readString() };
    const token = this.#take(NUMBER) ?? this.#take(WORD);
    if (token !== undefined) return { line, value: JSON.parse(token) };
    if (first === "") return this.#fail("the JSON ends too early: a value, } or ] is missing");
    if (first === "'") return this.#fail("JSON has double quotes around texts, not single ones");
    if (first === "/") return this.#fail("JSON has no comments");
    return this.#fail(`a value is missing, and this is none: ${this.#shown()}`);
  }

  #readString(): string {
    const token = this.#take(STRING);
    if (token !== undefined) return JSON.parse(token) as string;
    return this.#fail(
      `a text does not end in its line, or has a backslash or a tab that JSON does not know: ${this.#shown()}. Write \\n, \\t and \\\\ for a line break, a tab and a backslash`,
    );
  }

  /** Reads a comma, or the end of an object or a list. Returns whether another part follows. */
  #goesOn(end: "}" | "]"): boolean {
    if (this.#accept(end)) return false;
    const commaLine = this.#line;
    if (!this.#accept(",")) this.#fail(`a comma or ${end} is missing before ${this.#shown()}`);
    if (this.#next() === end) throw new TextProblem(commaLine, `JSON has no comma before ${end}`);
    return true;
  }

  #readList(depth: number): Pick<JsonNode, "value" | "items"> {
    const items: JsonNode[] = [];
    this.#accept("[");
    if (!this.#accept("]")) {
      do items.push(this.#readValue(depth + 1));
      while (this.#goesOn("]"));
    }
    return { items, value: items.map(({ value }) => value) };
  }

  #readObject(depth: number): Pick<JsonNode, "value" | "members"> {
    const members = new Map<string, JsonMember>();
    this.#accept("{");
    if (!this.#accept("}")) {
      do this.#readMember(members, depth);
      while (this.#goesOn("}"));
    }
    // A key may be `__proto__`, which an assignment would treat in a special way.
    return { members, value: Object.fromEntries([...members].map(([key, { node }]) => [key, node.value])) };
  }

  #readMember(members: Map<string, JsonMember>, depth: number): void {
    if (this.#next() !== '"') this.#fail(`a key in double quotes is missing before ${this.#shown()}`);
    const line = this.#line;
    const key = this.#readString();
    if (!this.#accept(":")) this.#fail(`a colon is missing after the key ${JSON.stringify(key)}`);
    const node = this.#readValue(depth + 1);
    const earlier = members.get(key);
    if (earlier === undefined) members.set(key, { line, node });
    else
      this.problems.push({
        line,
        problem: `the key ${JSON.stringify(key)} occurs twice; first in line ${earlier.line}. Keep one`,
      });
  }
}

/** Reads a JSON text that begins at a line of a file. Throws a `TextProblem` if it is not JSON. */
export const parseJsonText = (
  text: string,
  firstLine = 1,
): { readonly node: JsonNode; readonly problems: readonly LineProblem[] } => {
  const reader = new Reader(text, firstLine);
  return { node: reader.readAll(), problems: reader.problems };
};
