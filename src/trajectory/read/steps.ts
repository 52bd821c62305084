import type { TestResults } from "../../environment/contract.ts";
import type { ChangedFile } from "../../git/snapshots/checkpointDiff.ts";
import type { IterationUsage } from "../../options/results.ts";
import type { RecordedEvent } from "../record/file.ts";
import type { Evaluation } from "./evaluations.ts";
import { millisecondsBetween, usageIn } from "./expense.ts";
import type { RecordedRun } from "./readTrajectory.ts";

export type { RecordedEvent } from "../record/file.ts";

/** Whether an action changed files: alone, together with later actions, not at all, or unknown. */
export type Change = "changed" | "shared" | "none" | "unknown";

/** One step of a run: the state before the first action, or an action. */
export interface RecordedStep {
  /** The number of the action; 0 for the state before the first. */
  readonly number: number;
  readonly iteration: number;
  readonly at: string;
  /** Since the previous step, or since the iteration began. */
  readonly durationMs: number;
  /** The usage that the agent has reported since. Some agents report it only at the end of their turn. */
  readonly usage?: IterationUsage;
  /** Not set if no tool was called. */
  readonly tool?: string;
  readonly what: string;
  readonly isError: boolean;
  readonly isUnfinished: boolean;
  readonly change: Change;
  /** The commit with the files after this step. */
  readonly commit: string;
  /** The number of its checkpoint; not set for the commit that the run began with. */
  readonly checkpoint?: number;
  /** The commit exists in the repository. */
  readonly isHere: boolean;
  /** The checkpoint lacks files that could not be read, or are too large. */
  readonly isIncomplete: boolean;
  readonly files: readonly ChangedFile[];
  /** The results of the run's own tests after it. */
  readonly tests?: TestResults;
  /** The results of later evaluations of its files, by environment. */
  readonly evaluations: ReadonlyMap<string, TestResults>;
  readonly events: readonly RecordedEvent[];
}

export interface StepSources {
  /** The changes of each checkpoint that exists here, by its commit. */
  readonly changes: ReadonlyMap<string, readonly ChangedFile[]>;
  /** The commit that the run began with exists in the repository. */
  readonly isBaseHere: boolean;
  readonly evaluations: readonly Evaluation[];
}

type Checkpoint = RecordedRun["checkpoints"][number];

/** A value that holds for actions up to a number. */
interface Span {
  readonly from: number;
  readonly number: number;
}

/** Finds the spans of numbers. Both are in ascending order. `at` contains the number, `before` ends below it. */
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

/** The latest evaluation of each commit, by environment. */
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
