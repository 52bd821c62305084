import { SandduneError } from "../../errors.ts";
import { abortOnStopSignals, exitCodeOf, type StopSignal } from "../../process/stopSignals.ts";
import { tell } from "./output.ts";

/** The parts of the messages about a stop. */
export interface StopWords {
  /** What was stopped. */
  readonly subject: string;
  /** What was kept, as a sentence. */
  readonly kept: string;
  /** What happens between the signal and the end. */
  readonly tidying: string;
}

const RUN: StopWords = {
  subject: "The run",
  kept: "The agent's commits until then are kept.",
  tidying: "stopping the agent and importing its commits",
};

/** A signal to this process has stopped the command. */
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

/** Turns a signal into an abort, so that a run can import and clean up. A second one ends the process. */
export const stopOnSignals = (words = RUN): { readonly signal: AbortSignal } & Disposable =>
  abortOnStopSignals(
    (name) => {
      void tell(`${name}: ${words.tidying}. Press Ctrl-C again to leave without cleaning up.`);
      return new StoppedError(name, words);
    },
    (name) => process.exit(exitCodeOf(name)),
  );
