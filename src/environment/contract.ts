/** What came of running tests: the one shape, wherever results are told. */
export interface TestResults {
  /** What was asked for: a test, a prefix of several, or the empty string for all. */
  readonly path: string;
  readonly passed: number;
  readonly failed: number;
  readonly total: number;
  /** In the order of the definition. Of very many, some that passed may be missing here: the counts are of all. */
  readonly tests: readonly TestResult[];
  /** Why there are no results, or not all of them; `null` if every test that was asked for has one. */
  readonly error: string | null;
}

/** What came of one test. */
export interface TestResult {
  readonly path: string;
  readonly passed: boolean;
  readonly durationMs: number;
  /** Why it failed, bounded. */
  readonly message?: string;
}

/** Whether everything that was asked for has passed: not if there was nothing. */
export const allPassed = ({ failed, total, error }: TestResults): boolean =>
  error === null && failed === 0 && total > 0;

/** A value that a caller may pass to a test by name. */
export interface TestParameter {
  readonly type: "string" | "number" | "boolean";
  readonly description?: string;
  /** Without it, the parameter has to be passed. */
  readonly default?: string | number | boolean;
}

/** The parameters of a test, by name. */
export type TestParameters = Readonly<Record<string, TestParameter>>;

/** What was passed to a test, by the name of the parameter. */
export type ParameterValues = Readonly<Record<string, string | number | boolean>>;

/** What a test server tells of one test. A suite's own tests are known only once it has run: it is one entry. */
export interface TestDescription {
  readonly path: string;
  readonly description?: string;
  readonly parameters?: TestParameters;
  /** It stands for all tests of an existing suite, whose paths begin with this one. */
  readonly isSuite?: boolean;
}

/** What `GET /schema` answers. */
export interface EnvironmentSchema {
  readonly tests: readonly TestDescription[];
}

/** How far a run of tests has come. */
export interface TestProgress {
  readonly done: number;
  /** `undefined` as long as it is not known: a suite is at work. */
  readonly total: number | undefined;
  /** The test that has just ended, if one has. */
  readonly last?: TestResult;
}
