import type { EnvironmentSchema, TestResults } from "../../../environment/contract.ts";
import { valuesProblem } from "../../../environment/definition/parameters.ts";
import { noTestPath, testPathProblem } from "../../../environment/definition/testPath.ts";
import { TestRequestError } from "../../../errors.ts";
import { messageOf } from "../../../tools/messageOf.ts";
import { isObject } from "../../../tools/values/predicates.ts";
import type { TestRequest } from "./evaluate.ts";
import { PendingLines } from "./pendingLines.ts";
import type { ToolMessage } from "./toolProgram.ts";

/** More than an agent waits for at a time. */
const MAX_REQUESTS = 8;

/** The parameters become an argument of a program, which Linux limits to 128 KiB. */
const MAX_PARAMETERS_LENGTH = 60_000;

export type RunTests = (request: TestRequest, signal: AbortSignal) => Promise<TestResults>;

const readRequest = (value: unknown): TestRequest => {
  const { path, parameters = {} } = isObject(value) ? value : {};
  if (typeof path !== "string") throw noTestPath("", "is no string");
  const problem = path === "" ? undefined : testPathProblem(path);
  if (problem !== undefined) throw noTestPath(path, problem);
  const wrong = valuesProblem(parameters);
  if (wrong !== undefined) throw new TestRequestError(wrong, 400);
  if (JSON.stringify(parameters).length > MAX_PARAMETERS_LENGTH)
    throw new TestRequestError(`The parameters have more than ${MAX_PARAMETERS_LENGTH} characters.`, 413);
  return { path, parameters: parameters as NonNullable<TestRequest["parameters"]> };
};

const errorFor = (reason: unknown): object =>
  reason instanceof TestRequestError
    ? { status: reason.status, problem: reason.problem, paths: reason.paths }
    : { status: 500, problem: messageOf(reason), paths: [] };

/**
 * The host's side of the test proxy. Answers the requests that the proxy in the agent's sandbox forwards. They are
 * untrusted: any process in that sandbox may have written them.
 */
export class TestProxyHost {
  /** The lines that the proxy reads. */
  readonly answers = new PendingLines();
  /** After `close()` the proxy ends by itself. */
  isClosed = false;
  readonly #running = new Map<number, { readonly stop: AbortController; readonly over: Promise<void> }>();

  constructor(private readonly run: RunTests) {}

  /** Sends the list of tests. The proxy starts to serve when it has received it. */
  offer(schema: EnvironmentSchema): void {
    this.answers.push({ schema });
  }

  receive(message: ToolMessage): void {
    if (message.type !== "request" && message.type !== "cancel") return;
    const { id } = message;
    if (typeof id !== "number") return;
    if (message.type === "cancel") this.#running.get(id)?.stop.abort();
    else if (this.#running.has(id)) return;
    else if (this.#running.size < MAX_REQUESTS) this.#begin(id, message.request);
    else
      this.answers.push({
        id,
        error: errorFor(
          new TestRequestError("Too many test requests are running. Wait for one to finish.", 429),
        ),
      });
  }

  #begin(id: number, request: unknown): void {
    const stop = new AbortController();
    const over = this.#answer(id, request, stop.signal).finally(() => this.#running.delete(id));
    this.#running.set(id, { stop, over });
  }

  async #answer(id: number, request: unknown, signal: AbortSignal): Promise<void> {
    try {
      const onProgress: TestRequest["onProgress"] = (progress) => this.answers.push({ id, progress });
      const result = await this.run({ ...readRequest(request), onProgress }, signal);
      this.answers.push({ id, result });
    } catch (reason) {
      this.answers.push({ id, error: errorFor(reason) });
    }
  }

  /** Stops all running requests. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const { stop } of this.#running.values()) stop.abort();
    await Promise.all([...this.#running.values()].map(({ over }) => over));
    this.answers.end();
  }
}
