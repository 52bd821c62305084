import { setTimeout as delay } from "node:timers/promises";
import { EnvironmentStartError, TestRequestError, TestServerError } from "../../../errors.ts";
import { withTimeLimit } from "../../../tools/wait/timeLimit.ts";
import { createEnvironmentClient, type EnvironmentClient } from "../../client/client.ts";
import type { TestResults } from "../../contract.ts";
import type { ServerDefinition } from "../../folder/environmentJson.ts";
import { MAX_BODY_BYTES } from "../../limits.ts";
import type { ReadyTests } from "../readyTests.ts";
import { RevivedServer } from "./revivedServer.ts";
import { type ServerPlace, startServerCommand } from "./serverCommand.ts";

/** Whether the connection failed, or broke before the end of the answer. */
const isBroken = ({ cause }: TestServerError): boolean =>
  (cause as NodeJS.ErrnoException)?.code !== undefined;

/** How long it may take until the exit of a server with a broken connection is noticed. */
const END_MS = 1000;

const testsOf = (server: RevivedServer, timeoutMs: number, closed: AbortController): ReadyTests => {
  /** If the server has ended, that is the reason of any error. */
  const ask = async <A>(question: (client: EnvironmentClient, url: string) => Promise<A>): Promise<A> => {
    if (closed.signal.aborted) throw closed.signal.reason;
    const { url, exited, failure } = await server.alive();
    try {
      const answer = await question(createEnvironmentClient({ url }), url);
      server.hasAnswered();
      return answer;
    } catch (reason) {
      if (!(reason instanceof TestServerError)) throw reason;
      // Connections break before the exit of the process is noticed.
      if (isBroken(reason)) await Promise.race([exited, delay(END_MS, undefined, { ref: false })]);
      const end = failure();
      if (end === undefined) throw reason;
      throw new TestServerError(url, "has ended", end.message, { cause: reason });
    }
  };
  /** The tested code may keep the server from answering. */
  const run = async (
    client: EnvironmentClient,
    url: string,
    ...[path, options]: Parameters<EnvironmentClient["run"]>
  ): Promise<TestResults> => {
    try {
      const results = await withTimeLimit(timeoutMs, options?.signal, (signal) =>
        client.run(path, { ...options, signal }),
      );
      return { ...results, path };
    } catch (reason) {
      options?.signal?.throwIfAborted();
      if (reason instanceof TestRequestError || reason instanceof TestServerError) throw reason;
      throw new TestServerError(
        url,
        `has not answered with results after ${timeoutMs} ms`,
        "Raise `timeoutMs` in environment.json if its tests take longer.",
        { cause: reason },
      );
    }
  };
  return {
    schema: (options) =>
      ask(async (client, url) => {
        const schema = await client.schema(options);
        if (Buffer.byteLength(JSON.stringify(schema)) <= MAX_BODY_BYTES) return schema;
        throw new TestServerError(
          url,
          `needs more than ${MAX_BODY_BYTES} bytes to describe its tests`,
          "Shorten their descriptions.",
        );
      }),
    run: (path, options) => ask((client, url) => run(client, url, path, options)),
    problem: () => server.failure()?.message,
    close: async () => {
      closed.abort(new EnvironmentStartError("it was closed"));
      await server.end();
    },
  };
};

export const openServerTests = async (
  definition: ServerDefinition,
  place: ServerPlace,
  onProgress: (sentence: string) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<ReadyTests> => {
  const closed = new AbortController();
  const server = await startServerCommand(definition, place, onProgress, signal);
  const revived = new RevivedServer(server, () =>
    startServerCommand(definition, place, onProgress, closed.signal),
  );
  return testsOf(revived, definition.timeoutMs, closed);
};
