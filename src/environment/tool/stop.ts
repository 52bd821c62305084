import { onAbort } from "../../tools/wait/onAbort.ts";

/** This process was asked to end, by a signal or by the end of its standard input. */
export class Stopped extends Error {
  constructor(readonly exitCode: number) {
    super("it was stopped");
  }
}

/** Aborts at the end of standard input: the process that had started this one is gone. */
export const abortAtEndOfInput = (controller: AbortController): void => {
  const stop = () => controller.abort(new Stopped(0));
  process.stdin.once("end", stop).once("close", stop).once("error", stop).resume();
};

/** Rejects with the reason of the abort. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    onAbort(signal, reject);
  });
