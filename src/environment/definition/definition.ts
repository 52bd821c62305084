import { InvalidOptionsError } from "../../errors.ts";
import type { ParameterValues, TestParameters } from "../contract.ts";
import type { TestSuite } from "../suites/suite.ts";
import { definitionProblem } from "./checkDefinition.ts";

/** The options of `run` in a test. */
export interface TestCommandOptions {
  /** Where it runs, relative to the worktree. */
  readonly cwd?: string;
  /** On top of the environment that the test has itself. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its standard input; none when it is left out. */
  readonly stdin?: string;
  /** A command that takes longer is killed, and `run` rejects. The test's own time limit holds anyway. */
  readonly timeoutMs?: number;
  /**
   * How much of the end of each stream the result holds, for a command that prints very much. Without it the result holds
   * everything, and a command that prints more than 16 MiB to a stream is killed, and `run` rejects.
   */
  readonly captureBytes?: number;
}

/** What `run` in a test resolves with. */
export interface TestCommandResult {
  /** 128 + n if signal n has ended it. */
  readonly exitCode: number;
  /** All that it printed, or its end if `captureBytes` was given. */
  readonly stdout: string;
  readonly stderr: string;
  /** It printed more than that, of which `stdout` is the end. Only with `captureBytes`. */
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly durationMs: number;
}

/** What a set-up gets. */
export interface SetupContext {
  /** Of a set-up, all that were passed; of a test, those that it declares. */
  readonly parameters: ParameterValues;
  /** The directory with the work that is tested. */
  readonly worktree: string;
  /** The folder of the environment. It may be read-only. */
  readonly directory: string;
  /** A directory for whatever tests need to write; all tests of the environment share it. */
  readonly scratch: string;
  /** Aborted when the time is over, or the result is no longer wanted. */
  readonly signal: AbortSignal;
  /** Runs a line for `sh` in the worktree. Resolves for every exit code; what still runs when the test ends is killed. */
  run(command: string, options?: TestCommandOptions): Promise<TestCommandResult>;
}

/** What a test gets. */
export interface TestContext<Session = unknown> extends SetupContext {
  /** What the set-up has returned. */
  readonly session: Session;
}

/** Passes, unless it throws or rejects: what it throws says why it failed. */
export type TestFunction<Session = unknown> = (context: TestContext<Session>) => unknown;

/** A test with a description, parameters or a time limit of its own. */
export interface EnvironmentTest<Session = unknown> {
  /** What it is about, for an agent or a person to read. */
  readonly description?: string;
  /** What a caller may pass. */
  readonly parameters?: TestParameters;
  /** In the place of the environment's. */
  readonly timeoutMs?: number;
  /** The test itself. */
  readonly run: TestFunction<Session>;
}

/** What `defineEnvironment()` gets. */
export interface EnvironmentDefinition<Session = unknown> {
  /**
   * Makes what tests need, once for each process that runs tests; `session` of their context is what it returns. Write it
   * before `tests`, so that the compiler knows the type there.
   */
  readonly setup?: (context: SetupContext) => Session | Promise<Session>;
  /** Takes back what `setup` has made, if the process lives that long: one that a test has killed does not. */
  readonly teardown?: (session: Session) => unknown;
  /**
   * By path: segments joined by "/", so that tests that belong together can be run together. No path is the beginning of
   * another one.
   */
  readonly tests: Readonly<Record<string, TestFunction<Session> | EnvironmentTest<Session> | TestSuite>>;
  /** What of the folder is brought along: files and directories, relative to it. Everything when it is left out. */
  readonly files?: readonly string[];
  /** For each test, and for `setup`: 60,000 unless it is set. */
  readonly timeoutMs?: number;
  /** How many processes run tests at a time: 4 unless it is set. */
  readonly concurrency?: number;
}

/**
 * Defines an environment: tests for what an agent does. The default export of `environment.ts` in the folder of the
 * environment. Throws an `InvalidOptionsError` if anything is wrong with it.
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
