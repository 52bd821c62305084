import { writeSafely } from "../process/writeSafely.ts";
import { oneLine, shortenTo, widthOf, wrapTo } from "./shorten.ts";
import { plain, type Style, styled } from "./style.ts";

/** A line at the bottom of the terminal that changes while something goes on. */
export interface StatusLine {
  /** Asked again for every frame. */
  readonly text: () => string;
}

/** Where terminal mode writes. */
export interface Screen {
  readonly style: Style;
  /** Whether status lines are seen. */
  readonly isLive: boolean;
  readonly columns: number;
  /** Prints lines that stay. */
  print(lines: readonly string[]): void;
  show(line: StatusLine): void;
  hide(line: StatusLine): void;
}

/** A terminal that does not know its size says 0. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
const FRAME_MS = 100;
const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

const ignore = () => {};

/** Set while somebody else has the terminal: what there is to print then, the latest of it. */
let heldBack: (() => void)[] | undefined;
const MAX_HELD_BACK = 1000;
const holders = new Set<symbol>();

/** Prints now, or when the terminal is given back. */
export const whenFree = (print: () => void): void => {
  if (heldBack === undefined) print();
  else if (heldBack.push(print) > MAX_HELD_BACK) heldBack.shift();
};

/** For what is not a terminal, or must not look like one: lines, and nothing that moves. */
const plainScreen = (stream: NodeJS.WriteStream): Screen => ({
  style: plain,
  isLive: false,
  columns: stream.columns || DEFAULT_COLUMNS,
  print: (lines) => whenFree(() => writeSafely(stream, lines.map((line) => `${line}\n`).join(""))),
  show: ignore,
  hide: ignore,
});

/**
 * A terminal with status lines at its bottom, one for each run that is going on; everything else is printed above. The
 * terminal's own state is never changed (no hidden cursor, no raw mode), so there is nothing to restore after a crash.
 */
class LiveScreen implements Screen {
  readonly style = styled;
  readonly isLive = true;
  readonly #lines = new Set<StatusLine>();
  #painted: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;

  constructor(private readonly stream: NodeJS.WriteStream) {}

  get columns(): number {
    return this.stream.columns || DEFAULT_COLUMNS;
  }

  print(lines: readonly string[]): void {
    whenFree(() => this.#print(lines));
  }

  #print(lines: readonly string[]): void {
    writeSafely(this.stream, this.#erased() + lines.map((line) => `${line}\n`).join("") + this.#paint());
  }

  get hasStatus(): boolean {
    return this.#lines.size > 0;
  }

  show(line: StatusLine): void {
    this.#lines.add(line);
    this.#timer ??= setInterval(() => this.#repaint(), FRAME_MS).unref();
    this.#repaint();
  }

  hide(line: StatusLine): void {
    this.#lines.delete(line);
    if (this.#lines.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.#repaint();
  }

  /** Takes the status lines away until the next frame. */
  clear(): void {
    writeSafely(this.stream, this.#erased());
    this.#painted = [];
  }

  #repaint(): void {
    if (heldBack !== undefined) return;
    this.#frame++;
    writeSafely(this.stream, this.#erased() + this.#paint());
  }

  /** Goes back to where the status lines begin, also if the terminal has become narrower since and has broken them. */
  #erased(): string {
    if (this.#painted.length === 0) return "";
    const rows = this.#painted.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / this.columns)),
      0,
    );
    // Row by row: erasing everything below counts as clearing the screen where that begins at its top, and then some
    // terminals keep a copy.
    return `\r\u001b[2K${"\u001b[1A\u001b[2K".repeat(rows - 1)}`;
  }

  #paint(): string {
    const room = Math.max(1, (this.stream.rows || DEFAULT_ROWS) - 2);
    const frame = FRAMES[this.#frame % FRAMES.length];
    const all = [...this.#lines].map(({ text }) =>
      shortenTo(`${frame} ${oneLine(text())}`, this.columns - 1),
    );
    this.#painted =
      all.length <= room ? all : [...all.slice(0, room - 1), `… and ${all.length - room + 1} more`];
    return this.#painted.map((line) => this.style("cyan", line)).join("\n");
  }
}

const liveScreens = new WeakMap<NodeJS.WriteStream, LiveScreen>();

const isLive = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";

/** The screen behind a stream. All runs of this process that are shown on a terminal share it. */
export const screenOf = (stream: NodeJS.WriteStream): Screen => {
  if (!isLive(stream)) return plainScreen(stream);
  const screen = liveScreens.get(stream) ?? new LiveScreen(stream);
  liveScreens.set(stream, screen);
  return screen;
};

/** Prints above the status lines of standard output, if there are any: false if there are none, and nothing was printed. */
export const printAboveStatus = (text: string): boolean => {
  const screen = liveScreens.get(process.stdout);
  if (!screen?.hasStatus) return false;
  screen.print(text.split("\n").flatMap((line) => wrapTo(line, screen.columns)));
  return true;
};

/**
 * Leaves the terminal to somebody else: until the result is called nothing is printed on it, by no session of this
 * process.
 */
export const holdScreen = (): (() => void) => {
  const holder = Symbol("holder");
  if (holders.size === 0) liveScreens.get(process.stdout)?.clear();
  holders.add(holder);
  heldBack ??= [];
  return () => {
    if (!holders.delete(holder) || holders.size > 0) return;
    const prints = heldBack ?? [];
    heldBack = undefined;
    for (const print of prints) print();
  };
};
