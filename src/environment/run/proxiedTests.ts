import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { TestRequestError, TestServerError } from "../../errors.ts";
import { isObject } from "../../tools/values/predicates.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import type { RunTestsOptions } from "../client/client.ts";
import type { EnvironmentSchema, TestProgress, TestResults } from "../contract.ts";
import { readSchema } from "../definition/readSchema.ts";
import { readResults } from "../results/readResults.ts";
import type { ReadyTests } from "./readyTests.ts";

/** A request that waits for its results. */
interface PendingRun {
  readonly onProgress: RunTestsOptions["onProgress"];
  readonly resolve: (results: TestResults) => void;
  readonly reject: (reason: unknown) => void;
}

const refusalOf = (error: Record<string, unknown>): TestRequestError => {
  const { status, problem, paths } = error;
  return new TestRequestError(
    typeof problem === "string" ? problem : "The tests could not be run.",
    typeof status === "number" ? status : 500,
    Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [],
  );
};

const gone = (): TestServerError =>
  new TestServerError(
    "the other end of the test proxy",
    "no longer answers",
    "The run that it belongs to is over.",
  );

/** Tests on the host, by lines of JSON: `write` sends requests, `input` has the answers. */
export const proxiedTests = async (input: Readable, write: (line: object) => void): Promise<ReadyTests> => {
  const waiting = new Map<number, PendingRun>();
  let schema: EnvironmentSchema | undefined;
  let isOver = false;
  let lastId = 0;

  const take = (line: unknown): void => {
    if (!isObject(line)) return;
    const asker = waiting.get(line["id"] as number);
    if (asker === undefined) return;
    if (line["progress"] !== undefined) asker.onProgress?.(line["progress"] as TestProgress);
    else if (isObject(line["error"])) asker.reject(refusalOf(line["error"]));
    else {
      const results = readResults(line["result"]);
      if (results === undefined) asker.reject(gone());
      else asker.resolve(results);
    }
  };

  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const ready = new Promise<void>((resolve) => {
    lines.on("line", (text) => {
      const line: unknown = JSON.parse(text);
      if (schema !== undefined) return take(line);
      schema = isObject(line) ? readSchema(line["schema"]) : undefined;
      resolve();
    });
    lines.on("close", () => {
      isOver = true;
      for (const { reject } of waiting.values()) reject(gone());
      resolve();
    });
  });
  await ready;
  const known = schema;
  if (known === undefined) throw gone();

  const ask = (path: string, { parameters, onProgress, signal }: RunTestsOptions): Promise<TestResults> => {
    const id = ++lastId;
    let stopWaiting = () => {};
    return new Promise<TestResults>((resolve, reject) => {
      waiting.set(id, { onProgress, resolve, reject });
      stopWaiting = onAbort(signal, (reason) => {
        write({ type: "cancel", id });
        reject(reason);
      });
      write({ type: "request", id, request: { path, ...(parameters && { parameters }) } });
    }).finally(() => {
      waiting.delete(id);
      stopWaiting();
    });
  };

  return {
    schema: async () => known,
    run: async (path, options = {}) => {
      options.signal?.throwIfAborted();
      if (isOver) throw gone();
      return ask(path, options);
    },
    problem: () => (isOver ? gone().message : undefined),
    close: async () => lines.close(),
  };
};
