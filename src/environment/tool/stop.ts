import { constants } from "node:os";
import { onAbort } from "../../tools/wait/onAbort.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Somebody wants this process to end, by a signal or by ending its standard input. */
export class Stopped extends Error {
  constructor(readonly exitCode: number) {
    super("it was stopped");
  }
}

/** Turns signals to this process into an abort, so that everything that was started can be ended first. */
export const abortOnStopSignals = (): AbortController => {
  const controller = new AbortController();
  for (const name of STOP_SIGNALS)
    process.on(name, () => controller.abort(new Stopped(128 + constants.signals[name])));
  return controller;
};

/** Aborts when nothing comes from standard input any more: whoever had started this process is gone. */
export const abortAtEndOfInput = (controller: AbortController): void => {
  const stop = () => controller.abort(new Stopped(0));
  process.stdin.once("end", stop).once("close", stop).once("error", stop).resume();
};

/** Rejects with the reason of the abort. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    onAbort(signal, reject);
  });
