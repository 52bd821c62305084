import type { TestResults } from "../../environment/contract.ts";
import { addEvaluation } from "./evaluations.ts";
import type { Replay } from "./replay.ts";
import type { RecordedStep } from "./steps.ts";

/** Runs all tests of an environment on the files of a commit. */
export type EvaluateCommit = (commit: string) => Promise<TestResults>;

export interface EvaluationRequest {
  /** Identifies the environment in the stored results. */
  readonly environment: string;
  readonly evaluateCommit: EvaluateCommit;
  readonly onResults?: (step: RecordedStep, results: TestResults) => void;
  readonly signal?: AbortSignal;
}

/** The steps that changed files, and whose commits exist here. The results of the other steps would be the same. */
export const stepsToEvaluate = ({ steps }: Replay): RecordedStep[] =>
  steps.filter(({ number, change, isHere }) => isHere && (number === 0 || change === "changed"));

/** Runs an environment's tests on each commit of a recorded run, and stores each result at once. */
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
