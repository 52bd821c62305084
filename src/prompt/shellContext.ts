/** A construct of a shell command that is opened and closed. */
interface Frame {
  readonly quotes?: "single" | "double";
  /** Some shells evaluate the values of variables in here, including commands. */
  readonly evaluates?: boolean;
  readonly isArithmetic?: boolean;
  readonly close: string;
  /** The constructs that can be opened inside it, longer ones first. */
  readonly opens: readonly (readonly [open: string, frame: () => Frame])[];
}

const EXPANSIONS: Frame["opens"] = [
  ["$((", () => ARITHMETIC],
  ["$(", () => SUBSTITUTION],
  ["$[", () => OLD_ARITHMETIC],
  ["${", () => PARAMETER],
];
const QUOTES: Frame["opens"] = [
  ['"', () => DOUBLE_QUOTES],
  ["'", () => SINGLE_QUOTES],
];
const COMMANDS: Frame["opens"] = [
  ...EXPANSIONS,
  ...QUOTES,
  ["((", () => ARITHMETIC],
  ["[[", () => TEST],
  ["(", () => GROUP],
];
const EVALUATED: Frame["opens"] = [...EXPANSIONS, ["(", () => PARENTHESIS]];

const SINGLE_QUOTES: Frame = { quotes: "single", close: "'", opens: [] };
const DOUBLE_QUOTES: Frame = { quotes: "double", close: '"', opens: EXPANSIONS };
const SUBSTITUTION: Frame = { close: ")", opens: COMMANDS };
const GROUP: Frame = { close: ")", opens: COMMANDS };
const ARITHMETIC: Frame = { evaluates: true, isArithmetic: true, close: "))", opens: EVALUATED };
const OLD_ARITHMETIC: Frame = { evaluates: true, isArithmetic: true, close: "]", opens: EVALUATED };
const INDEX: Frame = { evaluates: true, close: "]", opens: EVALUATED };
const PARENTHESIS: Frame = { evaluates: true, close: ")", opens: EVALUATED };
const TEST: Frame = { evaluates: true, close: "]]", opens: [...EVALUATED, ...QUOTES] };
const PARAMETER: Frame = { evaluates: true, close: "}", opens: [...EXPANSIONS, ...QUOTES] };

/** Tracks the open constructs of a shell command. */
export class ShellContext {
  readonly #frames: Frame[] = [];
  #hasArithmetic = false;

  get quotes(): "single" | "double" | undefined {
    return this.#frames.at(-1)?.quotes;
  }

  /** Whether a shell might evaluate the value of a variable, or the output of a command, at this position. */
  get evaluates(): boolean {
    return this.#frames.some(({ evaluates }) => evaluates);
  }

  /** Whether there was any arithmetic, which also evaluates variables that were set elsewhere. */
  get hasArithmetic(): boolean {
    return this.#hasArithmetic;
  }

  read(piece: string): void {
    for (let at = 0; at < piece.length; ) at += this.#readOne(piece, at);
  }

  /** Returns the number of characters to skip. */
  #readOne(piece: string, at: number): number {
    const innermost = this.#frames.at(-1);
    if (piece[at] === "\\" && innermost?.quotes !== "single") return 2;
    if (innermost !== undefined && piece.startsWith(innermost.close, at)) {
      this.#frames.pop();
      return innermost.close.length;
    }
    const opens = innermost?.opens ?? COMMANDS;
    const isBeforeArgument = at === piece.length - 1;
    if (opens === COMMANDS && piece[at] === "[" && (isBeforeArgument || /\w/.test(piece[at - 1] ?? ""))) {
      // The index of an array, in shells that have arrays.
      return this.#open(INDEX, 1);
    }
    const opened = opens.find(([open]) => piece.startsWith(open, at));
    if (opened === undefined) return 1;
    const [open, frame] = opened;
    return this.#open(frame(), open.length);
  }

  #open(frame: Frame, length: number): number {
    this.#frames.push(frame);
    this.#hasArithmetic ||= frame.isArithmetic ?? false;
    return length;
  }
}
