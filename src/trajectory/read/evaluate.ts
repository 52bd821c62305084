import type { TestResults } from "../../environment/contract.ts";
import { addEvaluation } from "./evaluations.ts";
import type { Replay } from "./replay.ts";
import type { RecordedStep } from "./steps.ts";

/** Runs all tests of an environment on the files of a commit. */
export type EvaluateCommit = (commit: string) => Promise<TestResults>;

export interface EvaluationRequest {
  /** Tells environments apart in what is kept. */
  readonly environment: string;
  readonly evaluateCommit: EvaluateCommit;
  /** Called before the tests are run on the files of a step. */
  readonly onResults?: (step: RecordedStep, results: TestResults) => void;
  readonly signal?: AbortSignal;
}

/** The steps that have files of their own, and that are here: on the files of all others nothing else would be found out. */
export const stepsToEvaluate = ({ steps }: Replay): RecordedStep[] =>
  steps.filter(({ number, change, isHere }) => isHere && (number === 0 || change === "changed"));

/** Runs the tests of an environment on every commit of a recorded run, one after the other, and keeps each result at once. */
export const evaluateSteps = async (
  replay: Replay,
  { environment, evaluateCommit, onResults, signal }: EvaluationRequest,
): Promise<void> => {
  for (const step of stepsToEvaluate(replay)) {
    signal?.throwIfAborted();
    const results = await evaluateCommit(step.commit);
    addEvaluation(replay.runDirectory, { environment, commit: step.commit, results });
    onResults?.(step, results);
  }
};
