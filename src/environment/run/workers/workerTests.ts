import { EnvironmentStartError } from "../../../errors.ts";
import { type Limit, limitTo } from "../../../tools/wait/limitTo.ts";
import type { RunTestsOptions } from "../../client/client.ts";
import type { ParameterValues, TestResults } from "../../contract.ts";
import { DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_MS } from "../../limits.ts";
import type { EnvironmentOutline } from "../../worker/messages.ts";
import type { ReadyTests } from "../readyTests.ts";
import { Collector } from "./collector.ts";
import { OpenWork } from "./openWork.ts";
import { outlineOf } from "./outline.ts";
import { runInSession, type TestRun } from "./runInSession.ts";
import { selectTests } from "./selectTests.ts";
import { TestSession } from "./testSession.ts";
import { TestWorker, type WorkerLaunch } from "./testWorker.ts";

export interface WorkerTestsOptions extends WorkerLaunch {
  /** Overrides the definition. */
  readonly timeoutMs?: number | undefined;
  readonly concurrency?: number | undefined;
  /** A worker that was started ahead of time: it loads the definition, and runs the first tests. */
  readonly worker?: TestWorker | undefined;
}

class WorkerTests implements ReadyTests {
  readonly #work = new OpenWork();
  /** Limits the workers that run tests at a time. */
  readonly #places: Limit;
  /** For the first session. */
  #loaded: TestWorker | undefined;

  constructor(
    private readonly launch: WorkerLaunch,
    private readonly outline: EnvironmentOutline,
    private readonly loader: TestWorker,
  ) {
    this.#places = limitTo(this.#concurrency);
    this.#loaded = loader;
  }

  problem(): string | undefined {
    return this.#work.isClosed ? "It is being closed." : undefined;
  }

  async schema() {
    return this.outline.schema;
  }

  run(path: string, options: RunTestsOptions = {}): Promise<TestResults> {
    return this.#work.perform(options.signal, (signal) => this.#run(path, { ...options, signal }));
  }

  async close(): Promise<void> {
    await this.#work.close(new EnvironmentStartError("it was closed"));
    await this.loader.end();
  }

  get #concurrency(): number {
    return Math.min(this.outline.concurrency ?? DEFAULT_CONCURRENCY, this.outline.schema.tests.length);
  }

  #newSession(parameters: ParameterValues): TestSession {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    return new TestSession({
      launch: this.launch,
      parameters,
      timeoutMs: this.outline.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      loaded,
    });
  }

  async #run(path: string, { parameters = {}, onProgress, signal }: RunTestsOptions): Promise<TestResults> {
    const selection = selectTests(this.outline, path, parameters);
    const collector = new Collector(selection, onProgress);
    const run: TestRun = { collector, queue: [...selection.tests], parameters, signal };
    collector.begin();
    await this.#runDivided(run);
    return collector.results();
  }

  /** Workers take tests of the queue until it is empty. */
  async #runDivided(run: TestRun): Promise<void> {
    const lanes = Math.min(this.#concurrency, run.queue.length);
    const ends = await Promise.allSettled(
      Array.from({ length: lanes }, () => this.#places(() => this.#runLane(run), run.signal)),
    );
    const failure = ends.find((end) => end.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  }

  async #runLane(run: TestRun): Promise<void> {
    // Other lanes may have emptied the queue meanwhile.
    if (run.queue.length === 0) return;
    const session = this.#newSession(run.parameters);
    try {
      await runInSession(session, run);
    } catch (reason) {
      await session.kill();
      throw reason;
    }
    const problem = await session.end();
    if (problem !== undefined) run.collector.addError(problem);
  }
}

/** Opens the tests of a definition: they run in workers. */
export const openWorkerTests = async (
  { timeoutMs, concurrency, worker, ...launch }: WorkerTestsOptions,
  signal?: AbortSignal,
): Promise<ReadyTests> => {
  const loader = worker ?? new TestWorker(launch);
  try {
    const outline = await outlineOf(loader, launch, signal);
    // The definition may have changed when tests are requested.
    if (worker === undefined) void loader.end();
    return new WorkerTests(
      launch,
      {
        ...outline,
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(concurrency !== undefined && { concurrency }),
      },
      loader,
    );
  } catch (reason) {
    await loader.end();
    throw reason;
  }
};
