import { TerminalError } from "../../errors.ts";

let isTaken = false;

/** Throws if this process has no terminal. */
export const requireTerminal = (): void => {
  if (process.stdin.isTTY && process.stdout.isTTY) return;
  throw new TerminalError(
    "an interactive session needs one, but standard input or output is something else",
    "Start it from a terminal, without pipes; use run() for an agent that works by itself.",
  );
};

/**
 * Takes the terminal of this process for one session, from its first question to its last word; the result gives it
 * back. Throws if there is no terminal, or if another session has it.
 */
export const takeTerminal = (): (() => void) => {
  requireTerminal();
  if (isTaken) {
    throw new TerminalError("another interactive session of this process has it", "Wait for that to end.");
  }
  isTaken = true;
  return () => {
    isTaken = false;
  };
};
