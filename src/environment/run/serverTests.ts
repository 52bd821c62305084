import { EnvironmentStartError, TestRequestError, TestServerError } from "../../errors.ts";
import { withTimeLimit } from "../../process/timeLimit.ts";
import { createEnvironmentClient, type EnvironmentClient } from "../client.ts";
import type { ServerDefinition } from "../folder/environmentJson.ts";
import { MAX_BODY_BYTES } from "../limits.ts";
import type { ReadyTests } from "../readyTests.ts";
import { type RunningServer, type ServerPlace, startServerCommand } from "./serverCommand.ts";

const NO_SESSIONS = "The server of this environment keeps no test sessions. Leave the session out.";

/** Not every server has all of the protocol. */
const NOT_THERE: readonly (number | undefined)[] = [404, 405, 501];

const orNoSessions = (reason: unknown): unknown =>
  (reason instanceof TestRequestError || reason instanceof TestServerError) &&
  NOT_THERE.includes(reason.status)
    ? new TestRequestError(NO_SESSIONS, 404)
    : reason;

const testsOf = (server: RunningServer, timeoutMs: number): ReadyTests => {
  const client = createEnvironmentClient({ url: server.url });
  const closed = new AbortController();
  /** What goes wrong with a server that has ended went wrong because of that. */
  const ask = async <A>(question: () => Promise<A>): Promise<A> => {
    if (closed.signal.aborted) throw closed.signal.reason;
    try {
      return await question();
    } catch (reason) {
      const problem = reason instanceof TestServerError ? server.problem() : undefined;
      if (problem === undefined) throw reason;
      throw new TestServerError(server.url, "is gone", problem, { cause: reason });
    }
  };
  /** What is tested may keep a server from answering. */
  const run: EnvironmentClient["run"] = async (path, options) => {
    try {
      const results = await withTimeLimit(timeoutMs, options?.signal, (signal) =>
        client.run(path, { ...options, signal }),
      );
      return { ...results, path };
    } catch (reason) {
      options?.signal?.throwIfAborted();
      if (reason instanceof TestRequestError || reason instanceof TestServerError) throw reason;
      throw new TestServerError(
        server.url,
        `has not told results after ${timeoutMs} ms`,
        "Raise `timeoutMs` in environment.json if its tests take longer.",
        { cause: reason },
      );
    }
  };
  return {
    schema: (options) =>
      ask(async () => {
        const schema = await client.schema(options);
        if (Buffer.byteLength(JSON.stringify(schema)) <= MAX_BODY_BYTES) return schema;
        throw new TestServerError(
          server.url,
          `takes more than ${MAX_BODY_BYTES} bytes to describe its tests`,
          "Shorten their descriptions.",
        );
      }),
    run: (path, options) => ask(() => run(path, options)),
    beginSession: (options) =>
      ask(() => client.beginSession(options)).catch((reason) => {
        throw orNoSessions(reason);
      }),
    endSession: (session, options) => ask(() => client.endSession(session, options)),
    problem: () => server.problem(),
    close: async () => {
      closed.abort(new EnvironmentStartError("it was closed"));
      await server.end();
    },
  };
};

/** Makes the tests of a server ready that an environment brings along. */
export const openServerTests = async (
  definition: ServerDefinition,
  place: ServerPlace,
  onProgress: (sentence: string) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<ReadyTests> =>
  testsOf(await startServerCommand(definition, place, onProgress, signal), definition.timeoutMs);
