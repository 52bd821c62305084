import type { TestResults } from "../../environment/contract.ts";
import type { ChangedFile } from "../../git/snapshots/checkpointDiff.ts";
import type { IterationUsage } from "../../options/results.ts";
import type { RecordedEvent } from "../record/file.ts";
import type { Evaluation } from "./evaluations.ts";
import { millisecondsBetween, usageIn } from "./expense.ts";
import type { RecordedRun } from "./readTrajectory.ts";

export type { RecordedEvent } from "../record/file.ts";

/** Whether an action has changed files: in a checkpoint of its own, together with later actions, not at all, or nobody knows. */
export type Change = "changed" | "shared" | "none" | "unknown";

/** One step of a run: what was there before the first action, and then each action. */
export interface RecordedStep {
  /** That of the action; 0 for the first. */
  readonly number: number;
  readonly iteration: number;
  readonly at: string;
  /** Since the step before, or since the iteration began. */
  readonly durationMs: number;
  /** What the agent says that it has used since. Some tell it only when their turn is over. */
  readonly usage?: IterationUsage;
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
  /** The commit that the run began with is in the repository. */
  readonly isBaseHere: boolean;
  readonly evaluations: readonly Evaluation[];
}

type Checkpoint = RecordedRun["checkpoints"][number];

/** Something that is said of actions up to a number. */
interface Span {
  readonly from: number;
  readonly number: number;
}

/** What spans, which are in order, say of numbers, which are asked for in order: `at` holds the number, `before` ends below it. */
const walk = <T extends Span>(spans: readonly T[]): ((number: number) => { at?: T; before?: T }) => {
  let index = 0;
  return (number) => {
    while ((spans[index]?.number ?? number) < number) index++;
    const next = spans[index];
    const before = spans[index - 1];
    return {
      ...(next !== undefined && next.from <= number && { at: next }),
      ...(before !== undefined && { before }),
    };
  };
};

const changeOf = (number: number, holder: Checkpoint | undefined, isUnchanged: boolean): Change => {
  if (holder !== undefined) return holder.number === number ? "changed" : "shared";
  return isUnchanged || number === 0 ? "none" : "unknown";
};

/** What was last found out about each commit, by environment. */
const byCommit = (evaluations: readonly Evaluation[]): Map<string, Map<string, TestResults>> => {
  const found = new Map<string, Map<string, TestResults>>();
  for (const { commit, environment, results } of evaluations) {
    const ofCommit = found.get(commit) ?? new Map();
    found.set(commit, ofCommit.set(environment, results));
  }
  return found;
};

/** The steps of a recorded run, in order. */
export const stepsOf = (
  run: RecordedRun,
  { changes, isBaseHere, evaluations }: StepSources,
): RecordedStep[] => {
  const checkpointsAt = walk(run.checkpoints);
  const unchangedAt = walk(run.unchanged);
  const tests = new Map(run.tests.map(({ action, results }) => [action, results]));
  const evaluated = byCommit(evaluations);
  const stateAt = (number: number) => {
    const { at: holder, before } = checkpointsAt(number);
    const checkpoint = holder ?? before;
    const commit = checkpoint?.sha ?? run.base;
    const ownTests = tests.get(number);
    const hasOwnFiles = number === 0 || holder?.number === number;
    return {
      commit,
      ...(checkpoint && { checkpoint: checkpoint.number }),
      isHere: checkpoint === undefined ? isBaseHere : changes.has(commit),
      isIncomplete: holder?.isIncomplete ?? false,
      files: holder?.number === number ? (changes.get(commit) ?? []) : [],
      ...(ownTests && { tests: ownTests }),
      evaluations: (hasOwnFiles ? evaluated.get(commit) : undefined) ?? new Map<string, TestResults>(),
      change: changeOf(number, holder, unchangedAt(number).at !== undefined),
    } as const;
  };
  const begunAt = new Map(run.iterations.map((each) => [each.number, each.begunAt]));
  const first: RecordedStep = {
    ...{ number: 0, iteration: 0, at: run.begunAt, durationMs: 0, what: "before the first action" },
    ...{ isError: false, isUnfinished: false, events: [] },
    ...stateAt(0),
  };
  return [
    first,
    ...run.actions.map(({ tool, input, ...action }, index): RecordedStep => {
      const state = stateAt(action.number);
      const before = run.actions[index - 1];
      const since =
        before?.iteration === action.iteration ? before.at : (begunAt.get(action.iteration) ?? action.at);
      const usage = usageIn(action.events);
      return {
        ...{ ...action, what: input, durationMs: millisecondsBetween(since, action.at) },
        ...(tool !== undefined && { tool }),
        ...(usage && { usage }),
        ...state,
      };
    }),
  ];
};
