import { TerminalError } from "../../errors.ts";

let isTaken = false;

/** Throws if this process has no terminal. */
export const requireTerminal = (): void => {
  if (process.stdin.isTTY && process.stdout.isTTY) return;
  throw new TerminalError(
    "an interactive session needs a terminal, but standard input or output is not one",
    "Start it from a terminal, without pipes; use run() for an agent that works by itself.",
  );
};

/** Reserves the terminal for one session; returns the release. Throws if there is none or it is taken. */
export const takeTerminal = (): (() => void) => {
  requireTerminal();
  if (isTaken) {
    throw new TerminalError("another interactive session of this process uses it", "Wait for that to end.");
  }
  isTaken = true;
  return () => {
    isTaken = false;
  };
};
