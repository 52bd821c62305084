import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { LineSplitter } from "../../../tools/lineSplitter.ts";
import { type Message, messagesIn } from "./messages.ts";

/** Older versions of Node.js ignore the proxy. */
const options = { proxyEnv: process.env } as object;
const PROTOCOLS: Readonly<Record<string, { request: typeof plainRequest; agent: PlainAgent }>> = {
  "http:": { request: plainRequest, agent: new PlainAgent(options) },
  "https:": { request: secureRequest, agent: new SecureAgent(options) },
};

const MAX_REDIRECTS = 5;

export interface Exchange {
  readonly method: "POST" | "DELETE";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly message?: Message;
  readonly signal: AbortSignal;
}

const redirectOf = ({ statusCode, headers: { location } }: IncomingMessage, url: URL): URL | undefined => {
  const isMoved = (statusCode === 307 || statusCode === 308) && location !== undefined;
  return isMoved && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
};

/**
 * Sends a request and resolves with the response. Redirects are followed within the origin only: headers may be secrets.
 *
 * Not `fetch`: that of pi gives up on a server that is silent for five minutes, and a tool may take longer.
 */
export const exchange = (
  { method, url, headers, message, signal }: Exchange,
  redirects = 0,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const protocol = PROTOCOLS[url.protocol];
    if (protocol === undefined) throw new Error(`${url.protocol} is not http: or https:`);
    const { request, agent } = protocol;
    const sent = request(url, { method, agent, signal, headers });
    sent.on("error", reject);
    sent.once("response", (response) => {
      const next = redirectOf(response, url);
      if (next?.origin !== url.origin || redirects === MAX_REDIRECTS) return resolve(response);
      response.resume();
      resolve(exchange({ method, url: next, headers, ...(message && { message }), signal }, redirects + 1));
    });
    sent.end(message && JSON.stringify(message));
  });

export const textOf = async (response: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part;
  return text;
};

/** The messages of a response: one JSON text, or a stream of events. */
export const messagesOf = async function* (response: IncomingMessage): AsyncGenerator<Message> {
  if (!/^text\/event-stream\b/i.test(response.headers["content-type"] ?? "")) {
    yield* messagesIn(await textOf(response));
    return;
  }
  let lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line), Number.POSITIVE_INFINITY);
  let data: string[] = [];
  for await (const part of response) {
    splitter.push(part);
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice("data:".length));
      if (line !== "") continue;
      yield* messagesIn(data.join("\n"));
      data = [];
    }
    lines = [];
  }
};
