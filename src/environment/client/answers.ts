import { TestRequestError, TestServerError } from "../../errors.ts";
import { shorten } from "../../tools/shorten.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { EnvironmentSchema, TestProgress, TestResults } from "../contract.ts";
import { readSchema, schemaProblem } from "../definition/readSchema.ts";
import { MAX_MESSAGE_LENGTH } from "../limits.ts";
import { readResults, resultsProblem } from "../results/readResults.ts";
import type { Answer, ServerAddress } from "./askServer.ts";

const PROTOCOL = "It must follow the protocol of a test server.";

const NO_TOKEN =
  "The test server requires another token. Set SANDDUNE_ENVIRONMENT_TOKEN to the one that it was started with.";

const suggestedPaths = (body: unknown): readonly string[] => {
  const paths = isObject(body) ? body["paths"] : undefined;
  return Array.isArray(paths) ? paths.filter((path) => typeof path === "string").slice(0, 10) : [];
};

const errorIn = (body: unknown): string | undefined => {
  const error = isObject(body) ? body["error"] : undefined;
  return typeof error === "string" ? shorten(error, MAX_MESSAGE_LENGTH) : undefined;
};

/** The error for an answer with an error status. */
export const refusal = ({ url }: ServerAddress, { status, body }: Answer): Error => {
  if (status === 401) return new TestRequestError(NO_TOKEN, status);
  const said = errorIn(body);
  if (status >= 400 && status < 500 && said !== undefined)
    return new TestRequestError(
      said,
      status,
      suggestedPaths(body).map((path) => shorten(path, 200)),
    );
  const words = said === undefined ? "" : `: ${said}`;
  return new TestServerError(
    url,
    `answers with status ${status}${words}`,
    said === undefined ? PROTOCOL : "",
    {
      status,
    },
  );
};

const requireSuccess = (address: ServerAddress, answer: Answer): void => {
  if (answer.status < 200 || answer.status > 299) throw refusal(address, answer);
};

const misunderstood = ({ url }: ServerAddress, what: string, problem: string | undefined): TestServerError =>
  new TestServerError(url, `answers with something that is not ${what}: ${problem}`, PROTOCOL);

export const answeredSchema = (address: ServerAddress, answer: Answer): EnvironmentSchema => {
  requireSuccess(address, answer);
  const schema = readSchema(answer.body);
  if (schema === undefined) throw misunderstood(address, "a list of tests", schemaProblem(answer.body));
  return schema;
};

export const answeredResults = (address: ServerAddress, answer: Answer): TestResults => {
  requireSuccess(address, answer);
  const results = readResults(answer.body);
  if (results === undefined) throw misunderstood(address, "results of tests", resultsProblem(answer.body));
  return results;
};

/** The progress in an answer; `undefined` if the value is not progress. */
const readProgress = (value: unknown): TestProgress | undefined => {
  if (!isObject(value) || !Number.isSafeInteger(value["done"])) return undefined;
  const total = Number.isSafeInteger(value["total"]) ? (value["total"] as number) : undefined;
  const { last } = value;
  const ended =
    last === undefined ? undefined : readResults({ path: "", ...countsOf(last), tests: [last] })?.tests[0];
  return { done: value["done"] as number, total, ...(ended && { last: ended }) };
};

const countsOf = (result: unknown) => {
  const passed = isObject(result) && result["passed"] === true ? 1 : 0;
  return { passed, failed: 1 - passed, total: 1 };
};

/** Reads an answer in lines: reports progress at once, and keeps the last line as the answer. */
export class AnswerInLines {
  #last: Answer | undefined;

  constructor(private readonly onProgress: (progress: TestProgress) => void) {}

  readonly take = (line: unknown): void => {
    if (!isObject(line)) return;
    const { progress, result, error, status } = line;
    const told = progress === undefined ? undefined : readProgress(progress);
    if (told !== undefined) this.onProgress(told);
    if (result !== undefined) this.#last = { status: 200, body: result };
    if (error !== undefined) this.#last = { status: Number(status) || 500, body: line };
  };

  /** The last line; the given answer if it did not come in lines. */
  whole(answer: Answer): Answer {
    return answer.body === undefined && this.#last !== undefined ? this.#last : answer;
  }
}
