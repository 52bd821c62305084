import type { EnvironmentSchema, ParameterValues, TestResult } from "../contract.ts";

/** What a child process is asked to do. It does one thing at a time. */
export type WorkerTask =
  /** Comes first. Answered with an `EnvironmentOutline`. */
  | { readonly type: "load"; readonly place: TestPlace }
  | { readonly type: "setup"; readonly parameters: ParameterValues }
  | { readonly type: "test"; readonly path: string; readonly parameters: ParameterValues }
  /** Answered with a `SuiteOutcome`. */
  | { readonly type: "suite"; readonly path: string; readonly timeoutMs: number }
  | { readonly type: "teardown" };

/** Names one task: an answer without its id is nobody's, even if it comes from the process that has the task. */
export type WorkerRequest = WorkerTask & { readonly id: string };

export type WorkerReply =
  | { readonly id: string; readonly isDone: true; readonly value?: unknown }
  /** It failed, and the message says why. A process that `isSpent` had better not be asked again. */
  | { readonly id: string; readonly isDone: false; readonly message: string; readonly isSpent: boolean };

/** Where tests are run. */
export interface TestPlace {
  /** The folder of the environment. */
  readonly directory: string;
  /** The work that is tested. */
  readonly worktree: string;
  readonly scratch: string;
}

/** What a definition says, apart from what it does. */
export interface EnvironmentOutline {
  readonly schema: EnvironmentSchema;
  /** Time limits of tests and suites that have one of their own, by path. */
  readonly timeLimits: Readonly<Record<string, number>>;
  readonly timeoutMs?: number;
  readonly concurrency?: number;
}

export interface SuiteOutcome {
  /** Their paths begin with that of the suite. */
  readonly tests: readonly TestResult[];
  readonly error: string | null;
}
