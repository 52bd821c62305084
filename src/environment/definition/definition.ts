import { InvalidOptionsError } from "../../errors.ts";
import type { ParameterValues, TestParameters } from "../contract.ts";
import type { TestSuite } from "../suites/suite.ts";
import { definitionProblem } from "./checkDefinition.ts";

/** The options of `run` in a test. */
export interface TestCommandOptions {
  /** Where it runs, relative to the worktree. */
  readonly cwd?: string;
  /** Env vars, in addition to those of the test process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its stdin; empty when it is left out. */
  readonly stdin?: string;
  /** A command that takes longer is killed, and `run` rejects. The time limit of the test applies as well. */
  readonly timeoutMs?: number;
  /**
   * Keep only the last bytes of each stream, for a command that prints very much. Without it the result has everything; a
   * command that prints more than 16 MiB to a stream is killed, and `run` rejects.
   */
  readonly captureBytes?: number;
}

/** The result of `run` in a test. */
export interface TestCommandResult {
  /** 128 + n if signal n ended it. */
  readonly exitCode: number;
  /** All of its output, or the end of it if `captureBytes` is given. */
  readonly stdout: string;
  readonly stderr: string;
  /** `stdout` is only the end of the output. Only with `captureBytes`. */
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly durationMs: number;
}

/** The argument of a set-up. */
export interface SetupContext {
  /** For a set-up, all values that were passed; for a test, those of the parameters that it declares. */
  readonly parameters: ParameterValues;
  /** The directory with the tested work. */
  readonly worktree: string;
  /** The folder of the environment. It may be read-only. */
  readonly directory: string;
  /** A directory for files that tests write; all tests of the environment share it. */
  readonly scratch: string;
  /** Aborted when the time limit is reached, or when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** Runs a line for `sh` in the worktree. Resolves for every exit code. Commands that still run when the test ends are killed. */
  run(command: string, options?: TestCommandOptions): Promise<TestCommandResult>;
}

/** The argument of a test. */
export interface TestContext<Session = unknown> extends SetupContext {
  /** The value that the set-up returned. */
  readonly session: Session;
}

/** A test. It fails if it throws or rejects, and the error says why. */
export type TestFunction<Session = unknown> = (context: TestContext<Session>) => unknown;

/** A test with a description, parameters or a time limit of its own. */
export interface EnvironmentTest<Session = unknown> {
  /** What it checks, for agents and people. */
  readonly description?: string;
  /** The values that a caller may pass. */
  readonly parameters?: TestParameters;
  /** Overrides the time limit of the environment. */
  readonly timeoutMs?: number;
  /** The test itself. */
  readonly run: TestFunction<Session>;
}

/** The argument of `defineEnvironment()`. */
export interface EnvironmentDefinition<Session = unknown> {
  /**
   * Prepares what the tests need, once for each process that runs tests. Its result is `session` in the context of the tests.
   * Write it before `tests`, so that the compiler infers the type.
   */
  readonly setup?: (context: SetupContext) => Session | Promise<Session>;
  /** Reverts `setup`. Not called in a process that a test has killed. */
  readonly teardown?: (session: Session) => unknown;
  /**
   * Tests by path: segments joined by "/", so that related tests can be run together. No path may be a prefix of another.
   */
  readonly tests: Readonly<Record<string, TestFunction<Session> | EnvironmentTest<Session> | TestSuite>>;
  /** The files and directories of the folder that are copied into the sandbox, relative to it. All when it is left out. */
  readonly files?: readonly string[];
  /** For each test, and for `setup`; 60,000 when it is left out. */
  readonly timeoutMs?: number;
  /** How many processes run tests at a time; 4 when it is left out. */
  readonly concurrency?: number;
}

/**
 * Defines an environment: tests for an agent's work. Make it the default export of `environment.ts` in the environment's folder.
 * Throws an `InvalidOptionsError` if the definition is wrong.
 *
 * @example
 * export default defineEnvironment({
 *   tests: {
 *     "greeting/says-hello": async ({ run }) => {
 *       const { stdout } = await run("node greet.mjs");
 *       assert.equal(stdout, "hello\n");
 *     },
 *   },
 * });
 */
export const defineEnvironment = <Session = undefined>(
  definition: EnvironmentDefinition<Session>,
): EnvironmentDefinition<Session> => {
  const problem = definitionProblem(definition);
  if (problem !== undefined) throw new InvalidOptionsError("definition", `${problem}.`);
  return definition;
};
