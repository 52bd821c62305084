import type { EnvironmentDefinition } from "../definition/definition.ts";
import { valuesFor } from "../definition/parameters.ts";
import { declaredParameters, schemaOf } from "../definition/schemaOf.ts";
import { runSuite } from "../suites/runSuite.ts";
import { isSuite } from "../suites/suite.ts";
import { loadDefinition } from "./loadDefinition.ts";
import type { EnvironmentOutline, SuiteOutcome, TestPlace, WorkerTask } from "./messages.ts";
import { type OpenContext, openContext } from "./testContext.ts";

const timeLimitsOf = ({ tests }: EnvironmentDefinition): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(tests).flatMap(([path, test]) => {
      const { timeoutMs } = isSuite(test)
        ? test.definition
        : typeof test === "function"
          ? { timeoutMs: undefined }
          : test;
      return timeoutMs === undefined ? [] : [[path, timeoutMs]];
    }),
  );

const outlineOf = (definition: EnvironmentDefinition): EnvironmentOutline => ({
  schema: schemaOf(definition),
  timeLimits: timeLimitsOf(definition),
  ...(definition.timeoutMs !== undefined && { timeoutMs: definition.timeoutMs }),
  ...(definition.concurrency !== undefined && { concurrency: definition.concurrency }),
});

/** The env vars of this process. */
const ownEnv = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

/** Performs the tasks of a worker. */
export class Tasks {
  #definition: EnvironmentDefinition | undefined;
  #place: TestPlace = { directory: "", worktree: "", scratch: "" };
  /** The result of `setup`. */
  #session: unknown;
  /** Commands of the set-up may run as long as the session. */
  #setup: OpenContext | undefined;
  #test: OpenContext | undefined;
  readonly #suites = new AbortController();

  /** Performs a task. Rejects if it fails. */
  async perform(task: WorkerTask): Promise<unknown> {
    if (task.type === "load") {
      this.#place = task.place;
      process.chdir(task.place.worktree);
      process.env["PWD"] = task.place.worktree;
      this.#definition = await loadDefinition(task.place.directory);
      return outlineOf(this.#definition);
    }
    if (this.#definition === undefined) throw new Error("nothing was loaded");
    switch (task.type) {
      case "setup":
        this.#setup = openContext(this.#place, task.parameters);
        this.#session = await this.#definition.setup?.(this.#setup.context);
        return undefined;
      case "test":
        return this.#runTest(this.#definition, task);
      case "suite":
        return this.#runSuite(this.#definition, task);
      case "teardown":
        await this.#definition.teardown?.(this.#session);
        this.#setup?.close();
        return undefined;
    }
  }

  /** Ends all child processes. */
  abandon(): void {
    this.#suites.abort();
    this.#test?.close();
    this.#setup?.close();
  }

  async #runTest({ tests }: EnvironmentDefinition, task: WorkerTask & { type: "test" }): Promise<void> {
    const test = Object.hasOwn(tests, task.path) ? tests[task.path] : undefined;
    if (test === undefined || isSuite(test))
      throw new Error("the definition has changed: this test no longer exists");
    const parameters = valuesFor(declaredParameters(test), task.parameters);
    const opened = openContext(this.#place, parameters);
    this.#test = opened;
    const run = typeof test === "function" ? test : test.run;
    try {
      await run({ ...opened.context, session: this.#session });
    } finally {
      opened.close();
    }
  }

  async #runSuite(
    { tests }: EnvironmentDefinition,
    task: WorkerTask & { type: "suite" },
  ): Promise<SuiteOutcome> {
    const suite = Object.hasOwn(tests, task.path) ? tests[task.path] : undefined;
    if (!isSuite(suite)) throw new Error("the definition has changed: this suite no longer exists");
    const outcome = await runSuite(suite.definition, {
      ...this.#place,
      timeoutMs: task.timeoutMs,
      signal: this.#suites.signal,
      env: ownEnv(),
    });
    return {
      tests: outcome.tests.map((test) => ({ ...test, path: `${task.path}/${test.path}` })),
      error: outcome.error,
    };
  }
}
