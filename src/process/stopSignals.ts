import { constants } from "node:os";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** The exit code of a process that a signal has stopped. */
export const exitCodeOf = (signal: StopSignal): number => 128 + constants.signals[signal];

/** Package runners pass on a Ctrl-C that the terminal has delivered already: those two are one request. */
const SAME_REQUEST_MS = 250;

/**
 * Turns the signals that stop this process into an abort, so that it can clean up first. `reasonFor` makes the reason of the
 * abort; `onRepeated` is called for each later request. Disposing restores the default handling of the signals.
 */
export const abortOnStopSignals = (
  reasonFor: (signal: StopSignal) => unknown,
  onRepeated: (signal: StopSignal) => void = () => {},
): AbortController & Disposable => {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const onSignal = (name: StopSignal) => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      controller.abort(reasonFor(name));
    } else if (performance.now() - firstAt > SAME_REQUEST_MS) onRepeated(name);
  };
  for (const name of STOP_SIGNALS) process.on(name, onSignal);
  return Object.assign(controller, {
    [Symbol.dispose]: () => {
      for (const name of STOP_SIGNALS) process.off(name, onSignal);
    },
  });
};
