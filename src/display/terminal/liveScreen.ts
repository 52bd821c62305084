import { writeSafely } from "../../process/writeSafely.ts";
import { oneLine } from "../../tools/shorten.ts";
import { shortenTo, widthOf } from "../columns.ts";
import type { Screen, StatusLine } from "../screen.ts";
import { styled } from "../style.ts";
import { isHeld, whenFree } from "./holdOutput.ts";
import { endsLine, interceptWrites } from "./interceptWrites.ts";

/** A terminal that does not know its size reports 0. */
export const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
const FRAME_MS = 100;
const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/** The streams that write to the same terminal. */
const streamsBeside = (stream: NodeJS.WriteStream): NodeJS.WriteStream[] =>
  [process.stdout, process.stderr].filter((other) => other !== stream && other.isTTY);

/**
 * A terminal with status lines at the bottom, one for each running session. All other output appears above them,
 * including that of the calling program. Never changes the terminal's state (no hidden cursor, no raw mode), so there
 * is nothing to restore after a crash.
 */
export class LiveScreen implements Screen {
  readonly style = styled;
  readonly isLive = true;
  readonly #lines = new Set<StatusLine>();
  #painted: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  /** The program has begun a line and not ended it. Status lines must wait until it does. */
  #isInLine = false;
  #isWriting = false;
  #stopListening: (() => void) | undefined;

  constructor(private readonly stream: NodeJS.WriteStream) {}

  get columns(): number {
    return this.stream.columns || DEFAULT_COLUMNS;
  }

  get hasStatus(): boolean {
    return this.#lines.size > 0;
  }

  print(lines: readonly string[]): void {
    whenFree(() => {
      const start = this.#isInLine ? "\n" : "";
      this.#isInLine = false;
      this.#write(this.#erased() + start + lines.map((line) => `${line}\n`).join("") + this.#paint());
    });
  }

  show(line: StatusLine): void {
    this.#lines.add(line);
    this.#timer ??= setInterval(() => this.#repaint(), FRAME_MS).unref();
    this.#stopListening ??= this.#listen();
    this.#repaint();
  }

  hide(line: StatusLine): void {
    this.#lines.delete(line);
    if (this.#lines.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.#repaint();
    if (this.#lines.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#isInLine = false;
  }

  /** Removes the status lines until the next frame. */
  clear(): void {
    this.#write(this.#erased());
    this.#painted = [];
  }

  /** Removes the status lines for output of the program itself, and for the error message of a crash. */
  #listen(): () => void {
    const clear = () => this.clear();
    const ends = [this.stream, ...streamsBeside(this.stream)].map((stream) =>
      interceptWrites(stream, (chunk, write) => {
        if (this.#isWriting || isHeld() || chunk.length === 0) return write();
        this.clear();
        const isTaken = write();
        this.#isInLine = !endsLine(chunk);
        this.#write(this.#paint());
        return isTaken;
      }),
    );
    process.on("uncaughtExceptionMonitor", clear).on("exit", clear);
    return () => {
      for (const end of ends) end();
      process.off("uncaughtExceptionMonitor", clear).off("exit", clear);
    };
  }

  #write(text: string): void {
    if (text === "") return;
    this.#isWriting = true;
    writeSafely(this.stream, text);
    this.#isWriting = false;
  }

  #repaint(): void {
    if (isHeld()) return;
    this.#frame++;
    this.#write(this.#erased() + this.#paint());
  }

  /** Moves the cursor to the first status line, also if a narrower terminal has wrapped the lines. */
  #erased(): string {
    if (this.#painted.length === 0) return "";
    const rows = this.#painted.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / this.columns)),
      0,
    );
    // Row by row: if the cursor is at the top, erasing everything below counts as clearing the screen, and some
    // terminals then keep a copy.
    return `\r\u001b[2K${"\u001b[1A\u001b[2K".repeat(rows - 1)}`;
  }

  #paint(): string {
    this.#painted = this.#isInLine ? [] : this.#statusRows();
    return this.#painted.map((line) => this.style("cyan", line)).join("\n");
  }

  #statusRows(): string[] {
    const room = Math.max(1, (this.stream.rows || DEFAULT_ROWS) - 2);
    const frame = FRAMES[this.#frame % FRAMES.length];
    const all = [...this.#lines].map(({ text }) =>
      shortenTo(`${frame} ${oneLine(text())}`, this.columns - 1),
    );
    return all.length <= room ? all : [...all.slice(0, room - 1), `… and ${all.length - room + 1} more`];
  }
}
