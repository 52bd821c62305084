import type { ServerResponse } from "node:http";
import { TestRequestError } from "../../errors.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { ParameterValues, TestProgress } from "../contract.ts";
import { valuesProblem } from "../definition/parameters.ts";
import type { ReadyTests } from "../open/readyTests.ts";
import { boundResults } from "../results/boundResults.ts";
import { refusalOf, sendJson } from "./exchange.ts";

const checkFields = (body: unknown, known: readonly string[]): Readonly<Record<string, unknown>> => {
  if (!isObject(body)) throw new TestRequestError("The body must be an object.", 400);
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new TestRequestError(
      `The body has ${JSON.stringify(unknown.slice(0, 100))}, which is not known. Expected one of: ${known.join(", ")}.`,
      400,
    );
  return body;
};

const parametersOf = (value: unknown): ParameterValues => {
  const problem = value === undefined || value === null ? undefined : valuesProblem(value);
  if (problem !== undefined) throw new TestRequestError(problem, 400);
  return (value ?? {}) as ParameterValues;
};

export const readSessionBody = (body: unknown): { readonly parameters: ParameterValues } => ({
  parameters: parametersOf(checkFields(body, ["parameters"])["parameters"]),
});

export interface RunBody {
  readonly parameters: ParameterValues;
  readonly session: string | undefined;
}

export const readRunBody = (body: unknown): RunBody => {
  const { parameters, session } = checkFields(body, ["parameters", "session"]);
  if (session !== undefined && session !== null && typeof session !== "string")
    throw new TestRequestError('"session" must be what POST /sessions has answered.', 400);
  return { parameters: parametersOf(parameters), session: session ?? undefined };
};

export interface RunRequest extends RunBody {
  readonly path: string;
  readonly signal: AbortSignal;
}

/** Runs tests, and answers when they are over. */
export const answerAtOnce = async (
  tests: ReadyTests,
  response: ServerResponse,
  { path, ...options }: RunRequest,
): Promise<void> => {
  sendJson(response, 200, boundResults(await tests.run(path, options)));
};

/** Runs tests, and tells meanwhile how far they are. What is refused before they begin has a status of its own. */
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
