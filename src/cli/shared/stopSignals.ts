import { constants } from "node:os";
import { SandduneError } from "../../errors.ts";
import { tell } from "./output.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type StopSignal = (typeof STOP_SIGNALS)[number];

/** Package runners pass on a Ctrl-C that the terminal has delivered already: that is one wish, not two. */
const SAME_WISH_MS = 250;

const exitCodeOf = (signal: StopSignal): number => 128 + constants.signals[signal];

/** What people are told about what is being stopped. */
export interface StopWords {
  /** What is stopped, and what is kept of it. */
  readonly subject: string;
  readonly kept: string;
  /** What happens between the signal and the end. */
  readonly tidying: string;
}

const RUN: StopWords = {
  subject: "The run",
  kept: "What the agent had committed by then is kept.",
  tidying: "stopping the agent and importing its commits",
};

/** What the command line was doing was stopped by a signal to this process. */
export class StoppedError extends SandduneError {
  readonly exitCode: number;

  constructor(
    readonly signal: StopSignal,
    { subject, kept }: StopWords,
  ) {
    super(`${subject} was stopped by ${signal}. ${kept}`);
    this.exitCode = exitCodeOf(signal);
  }
}

/**
 * Turns signals to this process into an abort, so that a run, for one, can tidy up; a second one ends the process at once.
 * Disposing gives the signals back.
 */
export const abortOnStopSignals = (words = RUN): { readonly signal: AbortSignal } & Disposable => {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const onSignal = (name: StopSignal) => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      void tell(`${name}: ${words.tidying}. Once more to leave without cleaning up.`);
      controller.abort(new StoppedError(name, words));
    } else if (performance.now() - firstAt > SAME_WISH_MS) {
      process.exit(exitCodeOf(name));
    }
  };
  for (const name of STOP_SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of STOP_SIGNALS) process.off(name, onSignal);
    },
  };
};
