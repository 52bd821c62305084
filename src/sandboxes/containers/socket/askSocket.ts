import { type ClientRequest, request } from "node:http";
import { type JsonObject, parseObject } from "../../../tools/json/parseJson.ts";
import { withTimeLimit } from "../../../tools/wait/timeLimit.ts";

const MAX_BYTES = 4 * 1024 * 1024;

export interface SocketQuestion {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
}

export interface SocketAnswer {
  readonly status: number;
  /** `undefined` if the body is not an object. */
  readonly object: JsonObject | undefined;
}

/** Sends a question to an engine's API at its Unix socket. */
export const sendToSocket = (
  socketPath: string,
  { method, path, query = {}, body }: SocketQuestion,
  {
    headers,
    signal,
  }: { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal } = {},
): ClientRequest => {
  const text = body === undefined ? "" : JSON.stringify(body);
  const sent = request({
    socketPath,
    method,
    path: `/${path.map(encodeURIComponent).join("/")}?${new URLSearchParams(query)}`,
    agent: false,
    headers: {
      ...(body !== undefined && {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(text),
      }),
      ...headers,
    },
    ...(signal && { signal }),
  });
  sent.end(text);
  return sent;
};

const answerOf = (
  socketPath: string,
  question: SocketQuestion,
  signal: AbortSignal,
): Promise<SocketAnswer | undefined> =>
  new Promise((resolve, reject) => {
    const none = () => (signal.aborted ? reject(signal.reason) : resolve(undefined));
    const asked = sendToSocket(socketPath, question, { signal });
    asked.on("error", none);
    asked.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
        if (body.length > MAX_BYTES) asked.destroy();
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, object: parseObject(body) }));
      response.on("error", none);
      response.on("close", none);
    });
  });

/**
 * Asks an engine's API at its Unix socket. `undefined` without a complete answer: then the engine's client has to be asked, which says
 * what is wrong. Rejects if it takes longer than the limit, and with `signal.reason`: the engine may still do what it was asked.
 */
export const askSocket = (
  socketPath: string,
  question: SocketQuestion,
  limitMs: number,
  signal?: AbortSignal,
): Promise<SocketAnswer | undefined> =>
  withTimeLimit(limitMs, signal, (given) => answerOf(socketPath, question, given));
