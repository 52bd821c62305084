import { writeSafely } from "../process/writeSafely.ts";
import { wrapTo } from "./columns.ts";
import { plain, type Style } from "./style.ts";
import { holdBack, whenFree } from "./terminal/holdOutput.ts";
import { DEFAULT_COLUMNS, LiveScreen } from "./terminal/liveScreen.ts";

/** A line at the bottom of the terminal that shows the current state. */
export interface StatusLine {
  /** Called for each frame. */
  readonly text: () => string;
}

/** The output of terminal mode. */
export interface Screen {
  readonly style: Style;
  /** Whether status lines are visible. */
  readonly isLive: boolean;
  readonly columns: number;
  /** Prints permanent lines. */
  print(lines: readonly string[]): void;
  show(line: StatusLine): void;
  hide(line: StatusLine): void;
}

const ignore = () => {};

/** For output that is not a terminal, or must not look like one: plain lines only. */
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

/** The screen of a stream, shared by all runs of this process. */
export const screenOf = (stream: NodeJS.WriteStream): Screen => {
  if (!isLive(stream)) return plainScreen(stream);
  const screen = liveScreens.get(stream) ?? new LiveScreen(stream);
  liveScreens.set(stream, screen);
  return screen;
};

/** Prints above the status lines of stdout. Returns false, and prints nothing, if there are none. */
export const printAboveStatus = (text: string): boolean => {
  const screen = liveScreens.get(process.stdout);
  if (!screen?.hasStatus) return false;
  screen.print(text.split("\n").flatMap((line) => wrapTo(line, screen.columns)));
  return true;
};

/** Leaves the terminal to another program: no session of this process prints on it until the result is called. */
export const holdScreen = (): (() => void) => holdBack(() => liveScreens.get(process.stdout)?.clear());
