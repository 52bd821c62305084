import type { ServerResponse } from "node:http";
import { TestRequestError } from "../../errors.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { ParameterValues, TestProgress } from "../contract.ts";
import { valuesProblem } from "../definition/parameters.ts";
import { boundResults } from "../results/boundResults.ts";
import type { ReadyTests } from "../run/readyTests.ts";
import { refusalOf, sendJson } from "./exchange.ts";

export const readParameters = (body: unknown): ParameterValues => {
  if (!isObject(body)) throw new TestRequestError("The body must be an object.", 400);
  const { parameters, ...others } = body;
  const [unknown] = Object.keys(others);
  const problem =
    unknown === undefined
      ? valuesProblem(parameters ?? {})
      : `The body has an unknown member ${JSON.stringify(unknown.slice(0, 100))}; expected "parameters" only.`;
  if (problem !== undefined) throw new TestRequestError(problem, 400);
  return (parameters ?? {}) as ParameterValues;
};

export interface RunRequest {
  readonly path: string;
  readonly parameters: ParameterValues;
  readonly signal: AbortSignal;
}

/** Runs tests and answers when they are over. */
export const answerAtOnce = async (
  tests: ReadyTests,
  response: ServerResponse,
  { path, ...options }: RunRequest,
): Promise<void> => {
  sendJson(response, 200, boundResults(await tests.run(path, options)));
};

/** Runs tests and streams their progress. A request that is refused before they start gets the status of the refusal. */
export const answerInLines = async (
  tests: ReadyTests,
  response: ServerResponse,
  { path, ...options }: RunRequest,
): Promise<void> => {
  const begin = () => {
    if (response.headersSent) return;
    response.writeHead(200, { "Content-Type": "application/x-ndjson", "Cache-Control": "no-store" });
  };
  const onProgress = (progress: TestProgress) => {
    begin();
    // A client that does not read has no use for the progress, and gets the result all the same.
    if (!response.writableNeedDrain) response.write(`${JSON.stringify({ progress })}\n`);
  };
  try {
    const result = boundResults(await tests.run(path, { ...options, onProgress }));
    begin();
    response.end(`${JSON.stringify({ result })}\n`);
  } catch (reason) {
    if (!response.headersSent) throw reason;
    response.end(`${JSON.stringify(refusalOf(reason))}\n`);
  }
};
