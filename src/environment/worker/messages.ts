import type { EnvironmentSchema, ParameterValues, TestResult } from "../contract.ts";

/** A task of a worker, which performs one at a time. */
export type WorkerTask =
  /** Comes first. Answered with an `EnvironmentOutline`. */
  | { readonly type: "load"; readonly place: TestPlace }
  | { readonly type: "setup"; readonly parameters: ParameterValues }
  | { readonly type: "test"; readonly path: string; readonly parameters: ParameterValues }
  /** Answered with a `SuiteOutcome`. */
  | { readonly type: "suite"; readonly path: string; readonly timeoutMs: number }
  | { readonly type: "teardown" };

/** The id is random: the tested code cannot forge a reply without it. */
export type WorkerRequest = WorkerTask & { readonly id: string };

export type WorkerReply =
  | { readonly id: string; readonly isDone: true; readonly value?: unknown }
  /** It failed, and the message says why. A worker that `isSpent` must not be used again. */
  | { readonly id: string; readonly isDone: false; readonly message: string; readonly isSpent: boolean };

/** Where tests are run. */
export interface TestPlace {
  /** The folder of the environment. */
  readonly directory: string;
  /** The work that is tested. */
  readonly worktree: string;
  readonly scratch: string;
}

/** The data of a definition, without its functions. */
export interface EnvironmentOutline {
  readonly schema: EnvironmentSchema;
  /** The time limits of tests and suites that declare one, by path. */
  readonly timeLimits: Readonly<Record<string, number>>;
  readonly timeoutMs?: number;
  readonly concurrency?: number;
}

export interface SuiteOutcome {
  /** Their paths begin with the path of the suite. */
  readonly tests: readonly TestResult[];
  readonly error: string | null;
}
