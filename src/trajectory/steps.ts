import type { RecordedEvent } from "../engine/trajectoryFile.ts";
import type { TestResults } from "../environment/contract.ts";
import type { ChangedFile } from "../git/checkpointDiff.ts";
import type { Evaluation } from "./evaluations.ts";
import type { RecordedRun } from "./readTrajectory.ts";

export type { RecordedEvent } from "../engine/trajectoryFile.ts";

/** Whether an action has changed files: in a checkpoint of its own, together with later actions, not at all, or nobody knows. */
export type Change = "changed" | "shared" | "none" | "unknown";

/** One step of a run: what was there before the first action, and then each action. */
export interface Step {
  /** That of the action; 0 for the first. */
  readonly number: number;
  readonly iteration: number;
  readonly at: string;
  /** Not set where no tool was called. */
  readonly tool?: string;
  readonly what: string;
  readonly isError: boolean;
  readonly isUnfinished: boolean;
  readonly change: Change;
  /** The commit that has the files as they were after it. */
  readonly commit: string;
  /** The number of the checkpoint that this is; not set for the commit that the run began with. */
  readonly checkpoint?: number;
  /** The commit is in the repository. */
  readonly isHere: boolean;
  /** The checkpoint lacks files that could not be read, or are too large. */
  readonly isIncomplete: boolean;
  /** What is different from the step before, where it has changed files. */
  readonly files: readonly ChangedFile[];
  /** What the run's own tests came to after it. */
  readonly tests?: TestResults;
  /** What tests came to that were run on its files later, if it has changed them; by environment. */
  readonly evaluations: ReadonlyMap<string, TestResults>;
  readonly events: readonly RecordedEvent[];
}

/** What is known besides the trajectory itself. */
export interface StepSources {
  /** What each checkpoint that is here has changed, by its commit. */
  readonly changes: ReadonlyMap<string, readonly ChangedFile[]>;
  readonly evaluations: readonly Evaluation[];
}

type Checkpoint = RecordedRun["checkpoints"][number];

const changeOf = ({ unchanged }: RecordedRun, number: number, holder: Checkpoint | undefined): Change => {
  if (holder !== undefined) return holder.number === number ? "changed" : "shared";
  return unchanged.some((entry) => entry.from <= number && number <= entry.number) ? "none" : "unknown";
};

/** What was last found out about a commit, by environment. */
const evaluationsOf = (evaluations: readonly Evaluation[], commit: string): Map<string, TestResults> =>
  new Map(
    evaluations
      .filter((evaluation) => evaluation.commit === commit)
      .map(({ environment, results }) => [environment, results]),
  );

/** The steps of a recorded run, in order. */
export const stepsOf = (run: RecordedRun, { changes, evaluations }: StepSources): Step[] => {
  const { checkpoints, tests } = run;
  const stateAt = (number: number) => {
    const holder = checkpoints.find(({ from, number: last }) => from <= number && number <= last);
    const checkpoint = holder ?? checkpoints.findLast(({ number: last }) => last <= number);
    const commit = checkpoint?.sha ?? run.base;
    const ownTests = tests.findLast(({ action }) => action === number)?.results;
    return {
      commit,
      ...(checkpoint && { checkpoint: checkpoint.number }),
      isHere: checkpoint === undefined || changes.has(commit),
      isIncomplete: holder?.isIncomplete ?? false,
      files: holder?.number === number ? (changes.get(commit) ?? []) : [],
      ...(ownTests && { tests: ownTests }),
      evaluations: number === 0 || holder?.number === number ? evaluationsOf(evaluations, commit) : new Map(),
      change: number === 0 ? (holder ? "changed" : "none") : changeOf(run, number, holder),
    } as const;
  };
  const first: Step = {
    ...{ number: 0, iteration: 0, at: run.begunAt, what: "before the first action" },
    ...{ isError: false, isUnfinished: false, events: [] },
    ...stateAt(0),
  };
  return [
    first,
    ...run.actions.map(({ tool, input, ...action }): Step => {
      const state = stateAt(action.number);
      return { ...action, ...(tool !== undefined && { tool }), what: input, ...state };
    }),
  ];
};
