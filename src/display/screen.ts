import { writeSafely } from "../process/writeSafely.ts";
import { wrapTo } from "./columns.ts";
import { plain, type Style } from "./style.ts";
import { holdBack, whenFree } from "./terminal/holdOutput.ts";
import { DEFAULT_COLUMNS, LiveScreen } from "./terminal/liveScreen.ts";

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

const ignore = () => {};

/** For what is not a terminal, or must not look like one: lines, and nothing that moves. */
const plainScreen = (stream: NodeJS.WriteStream): Screen => ({
  style: plain,
  isLive: false,
  columns: stream.columns || DEFAULT_COLUMNS,
  print: (lines) => whenFree(() => writeSafely(stream, lines.map((line) => `${line}\n`).join(""))),
  show: ignore,
  hide: ignore,
});

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
 * Leaves the terminal to another program: until the result is called nothing is printed on it, by no session of this
 * process.
 */
export const holdScreen = (): (() => void) => holdBack(() => liveScreens.get(process.stdout)?.clear());
