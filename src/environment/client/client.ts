import type { EnvironmentSchema, ParameterValues, TestProgress, TestResults } from "../contract.ts";
import { noTestPath, testPathProblem } from "../definition/testPath.ts";
import { AnswerInLines, answeredResults, answeredSchema } from "./answers.ts";
import { askServer, type ServerAddress } from "./askServer.ts";

export interface RunTestsOptions {
  readonly parameters?: ParameterValues | undefined;
  readonly onProgress?: ((progress: TestProgress) => void) | undefined;
  /** An abort ends the tests, too. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The tests of an environment, over HTTP. A wrong request rejects with a `TestRequestError`, a server that does not answer with a
 * `TestServerError`, and an abort with `signal.reason`.
 */
export interface EnvironmentClient {
  schema(options?: { readonly signal?: AbortSignal | undefined }): Promise<EnvironmentSchema>;
  /** Runs a test, all tests below a path, or all tests for the empty path. */
  run(path: string, options?: RunTestsOptions): Promise<TestResults>;
}

/** A server without progress just answers when it is done. */
const NDJSON = "application/x-ndjson, application/json";

/** The path of a request. Each segment is encoded separately. */
const runPath = (path: string): string => {
  if (path === "") return "/run";
  const problem = testPathProblem(path);
  if (problem !== undefined) throw noTestPath(path, problem);
  return `/run/${path.split("/").map(encodeURIComponent).join("/")}`;
};

export const createEnvironmentClient = (address: ServerAddress): EnvironmentClient => ({
  schema: async ({ signal } = {}) =>
    answeredSchema(address, await askServer(address, { method: "GET", path: "/schema", signal })),
  run: async (path, { parameters, onProgress, signal } = {}) => {
    const lines = onProgress && new AnswerInLines(onProgress);
    const answer = await askServer(address, {
      method: "POST",
      path: runPath(path),
      body: { parameters },
      signal,
      ...(lines && { accept: NDJSON, onLine: lines.take }),
    });
    return answeredResults(address, lines?.whole(answer) ?? answer);
  },
});
