import type { ParameterValues } from "../../contract.ts";
import type { WorkerTask } from "../../worker/messages.ts";
import { type TaskOutcome, TestWorker, type WorkerLaunch } from "./testWorker.ts";

/** The definition could not be loaded, or its set-up failed. */
export class SetupFailure extends Error {}

export const LOAD_TIMEOUT_MS = 60_000;
const MAX_TEARDOWN_MS = 10_000;

export interface SessionSpec {
  readonly launch: WorkerLaunch;
  /** For the set-up. */
  readonly parameters: ParameterValues;
  /** For the set-up. */
  readonly timeoutMs: number;
  /** A worker that has loaded the definition and done nothing else. The session starts with it. */
  readonly loaded?: TestWorker | undefined;
}

/** A worker after its set-up. If a test ends it, the next one gets a new worker. One thing at a time. */
export class TestSession {
  #worker: TestWorker | undefined;

  constructor(private readonly spec: SessionSpec) {}

  /** Does the set-up, if it is not done. Rejects with a `SetupFailure`, or with `signal.reason`. */
  async begin(signal?: AbortSignal): Promise<TestWorker> {
    if (this.#worker?.isOver === false) return this.#worker;
    const { launch, parameters, timeoutMs, loaded } = this.spec;
    const { directory, worktree, scratch } = launch;
    const isFirst = this.#worker === undefined;
    await this.#worker?.end();
    const isLoaded = isFirst && loaded?.isOver === false;
    const worker = isLoaded ? loaded : new TestWorker(launch);
    this.#worker = worker;
    const require = async (what: string, task: WorkerTask, limitMs: number): Promise<void> => {
      const outcome = await worker.ask(task, limitMs, signal);
      if (outcome.isDone) return;
      await worker.end();
      throw new SetupFailure(`${what}: ${outcome.message}`);
    };
    const place = { directory, worktree, scratch };
    if (!isLoaded)
      await require("The definition could not be loaded", { type: "load", place }, LOAD_TIMEOUT_MS);
    await require("The set-up failed", { type: "setup", parameters }, timeoutMs);
    return worker;
  }

  /** Performs a task after the set-up. Rejects as `begin()` does. */
  async ask(task: WorkerTask, timeoutMs: number, signal?: AbortSignal): Promise<TaskOutcome> {
    const worker = await this.begin(signal);
    return worker.ask(task, timeoutMs, signal);
  }

  /** Does the tear-down, and ends everything. Never rejects: resolves with the error of the tear-down, if there is one. */
  async end(): Promise<string | undefined> {
    const worker = this.#worker;
    if (worker === undefined) return undefined;
    const outcome = worker.isOver
      ? undefined
      : await worker.ask({ type: "teardown" }, Math.min(this.spec.timeoutMs, MAX_TEARDOWN_MS));
    await worker.end();
    return outcome?.isDone === false ? `The tear-down failed: ${outcome.message}` : undefined;
  }

  /** Ends everything at once. Never rejects. */
  async kill(): Promise<void> {
    await this.#worker?.end();
  }
}
