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
  /** What it is to serve. It stays the caller's: closing the server does not close it. */
  readonly tests: ReadyTests;
  /** A free one when it is left out. */
  readonly port?: number | undefined;
  /** Who asks has to send it. */
  readonly token?: string | undefined;
  /** The path of a Unix socket to listen at as well. */
  readonly socket?: string | undefined;
}

export interface TestServer {
  readonly url: string;
  /** Ends it at once, with what runs for those who are still connected. Idempotent. */
  close(): Promise<void>;
}

/** More than anybody needs who tests one piece of work. */
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
  // Comes after every answer; only for one that was not finished does it mean that nobody waits for it any more.
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
    const problem = isTaken ? `${where} is taken: choose another port` : cause.message;
    throw new EnvironmentStartError(`the test server cannot listen at ${problem}`, "", { cause });
  });

/** What an earlier server has left; nothing else is in the way of this one. */
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
      // What runs for somebody is over, and its children are gone, when this is.
      closing ??= Promise.all(servers.map(closed)).then(() => Promise.allSettled(atWork));
      await closing;
    },
  };
};
