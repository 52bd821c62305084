import { constants } from "node:os";

/** 128 + n for a process that was ended by signal n: death by signal is never success. */
export const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
