import { lstat, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EnvironmentStartError } from "../../errors.ts";
import type { ReadyTests } from "../run/readyTests.ts";
import { refuseWebPages, requireToken } from "./admission.ts";
import { readBody, sendJson, sendRefusal } from "./exchange.ts";
import { type Route, routeOf } from "./route.ts";
import { answerAtOnce, answerInLines, readParameters } from "./runRequest.ts";

export interface TestServerOptions {
  /** The tests to serve. Closing the server does not close them. */
  readonly tests: ReadyTests;
  /** A free one when it is left out. */
  readonly port?: number | undefined;
  /** Every request must have it. */
  readonly token?: string | undefined;
  /** The path of a Unix socket to listen at as well. */
  readonly socket?: string | undefined;
}

export interface TestServer {
  readonly url: string;
  /** Ends it at once, with the tests that run for connected clients. Idempotent. */
  close(): Promise<void>;
}

/** More than one caller needs. */
const MAX_CONNECTIONS = 256;

const answer = async (
  tests: ReadyTests,
  route: Route,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> => {
  switch (route.type) {
    case "health": {
      const problem = tests.problem();
      if (problem === undefined) sendJson(response, 200, { status: "ok" });
      else sendJson(response, 503, { error: problem });
      return;
    }
    case "schema":
      sendJson(response, 200, await tests.schema({ signal }));
      return;
    case "run": {
      const asked = { path: route.path, parameters: readParameters(await readBody(request)), signal };
      const inLines = request.headers.accept?.includes("application/x-ndjson") === true;
      await (inLines ? answerInLines : answerAtOnce)(tests, response, asked);
    }
  }
};

const serve = async (
  { tests, token }: TestServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const gone = new AbortController();
  // Emitted after every answer. Before the answer is finished, it means that the client is gone.
  response.once("close", () => gone.abort(new Error("the client has gone")));
  try {
    refuseWebPages(request);
    const route = routeOf(request.method ?? "", request.url ?? "");
    if (route.type !== "health") requireToken(request, token);
    await answer(tests, route, request, response, gone.signal);
  } catch (reason) {
    if (gone.signal.aborted || response.headersSent) response.destroy();
    else sendRefusal(response, reason);
  }
};

const listen = (server: Server, where: number | string): Promise<void> =>
  new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (typeof where === "string") server.listen(where, resolve);
    else server.listen(where, "127.0.0.1", resolve);
  }).catch((cause) => {
    const isTaken = cause.code === "EADDRINUSE";
    const problem = isTaken ? `${where}, which is in use: choose another port` : cause.message;
    throw new EnvironmentStartError(`the test server cannot listen at ${problem}`, "", { cause });
  });

/** Removes the socket of an earlier server, and no other file. */
const removeOldSocket = async (path: string): Promise<void> => {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket()) await rm(path, { force: true });
};

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** Serves the tests of an environment, to this machine only. */
export const startTestServer = async (options: TestServerOptions): Promise<TestServer> => {
  const atWork = new Set<Promise<void>>();
  const make = (): Server => {
    const server = createServer((request, response) => {
      const work = serve(options, request, response)
        .catch(() => void response.destroy())
        .finally(() => atWork.delete(work));
      atWork.add(work);
    });
    server.maxConnections = MAX_CONNECTIONS;
    return server;
  };
  const { port = 0, socket } = options;
  const server = make();
  await listen(server, port);
  const { port: ownPort } = server.address() as AddressInfo;
  const servers = [server];
  if (socket !== undefined) {
    const second = make();
    try {
      await removeOldSocket(socket);
      await listen(second, socket);
    } catch (reason) {
      await closed(server);
      throw reason;
    }
    servers.push(second);
  }
  let closing: Promise<unknown> | undefined;
  return {
    url: `http://127.0.0.1:${ownPort}`,
    close: async () => {
      // Resolves when all running tests have ended, and their processes are gone.
      closing ??= Promise.all(servers.map(closed)).then(() => Promise.allSettled(atWork));
      await closing;
    },
  };
};
