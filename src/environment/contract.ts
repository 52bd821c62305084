/** The results of running tests, in the one shape that they have everywhere. */
export interface TestResults {
  /** The requested path: a test, a prefix of several tests, or the empty string for all. */
  readonly path: string;
  readonly passed: number;
  readonly failed: number;
  readonly total: number;
  /** In the order of the definition. A very long list leaves out tests that passed; the counts include all. */
  readonly tests: readonly TestResult[];
  /** Why results are missing; `null` if every requested test has one. */
  readonly error: string | null;
}

/** The result of one test. */
export interface TestResult {
  readonly path: string;
  readonly passed: boolean;
  readonly durationMs: number;
  /** Why it failed, bounded. */
  readonly message?: string;
}

/** Whether every requested test has passed, and there was at least one. */
export const allPassed = ({ failed, total, error }: TestResults): boolean =>
  error === null && failed === 0 && total > 0;

/** A value that a caller may pass to a test by name. */
export interface TestParameter {
  readonly type: "string" | "number" | "boolean";
  readonly description?: string;
  /** Without it, the parameter is required. */
  readonly default?: string | number | boolean;
}

/** The parameters of a test, by name. */
export type TestParameters = Readonly<Record<string, TestParameter>>;

/** The values that a caller passes to a test, by parameter name. */
export type ParameterValues = Readonly<Record<string, string | number | boolean>>;

/** How a test server describes a test. A suite is one entry, because its tests are known only once it has run. */
export interface TestDescription {
  readonly path: string;
  readonly description?: string;
  readonly parameters?: TestParameters;
  /** An existing suite: the paths of all its tests begin with this path. */
  readonly isSuite?: boolean;
}

/** The answer to `GET /schema`. */
export interface EnvironmentSchema {
  readonly tests: readonly TestDescription[];
}

/** The progress of running tests. */
export interface TestProgress {
  readonly done: number;
  /** `undefined` while a suite runs, because the number of its tests is unknown. */
  readonly total: number | undefined;
  /** The test that has just ended, if one has. */
  readonly last?: TestResult;
}
