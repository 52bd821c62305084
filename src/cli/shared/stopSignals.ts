import { SandduneError } from "../../errors.ts";
import { abortOnStopSignals, exitCodeOf, type StopSignal } from "../../process/stopSignals.ts";
import { tell } from "./output.ts";

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
 * Turns signals to this process into an abort, so that a run can import its commits and clean up; a second signal ends the
 * process at once.
 */
export const stopOnSignals = (words = RUN): { readonly signal: AbortSignal } & Disposable =>
  abortOnStopSignals(
    (name) => {
      void tell(`${name}: ${words.tidying}. Once more to leave without cleaning up.`);
      return new StoppedError(name, words);
    },
    (name) => process.exit(exitCodeOf(name)),
  );
