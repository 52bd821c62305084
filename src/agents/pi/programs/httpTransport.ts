import type { IncomingMessage } from "node:http";
import type { HttpMcpServer } from "../../shared/mcpServers.ts";
import { exchange, messagesOf, textOf } from "./httpExchange.ts";
import { GRACE_MS, type Message, settlesWithin, type Transport, type TransportEvents } from "./messages.ts";

const SESSION_HEADER = "mcp-session-id";
const MAX_COMPLAINT_CHARACTERS = 500;

const OWN_HEADERS = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};

const refusal = async (response: IncomingMessage): Promise<Error> => {
  const complaint = (await textOf(response)).trim().slice(0, MAX_COMPLAINT_CHARACTERS);
  return new Error([`HTTP ${response.statusCode}`, complaint].filter(Boolean).join(": "));
};

/** Talks to an MCP server by streamable HTTP. */
export const openHttp = (
  { url, headers = {} }: HttpMcpServer,
  { onMessage }: Pick<TransportEvents, "onMessage">,
): Transport => {
  const closing = new AbortController();
  /** The session and the protocol version that the server chose: every later request repeats them. */
  let agreed: Record<string, string> = {};
  let initialization: Message | undefined;
  /** Settles when a session that the server forgot has been replaced. */
  let renewal: Promise<void> | undefined;

  const ask = (method: "POST" | "DELETE", signal: AbortSignal, message?: Message) =>
    exchange({
      method,
      url: new URL(url),
      headers: { ...headers, ...OWN_HEADERS, ...agreed },
      ...(message && { message }),
      signal,
    });

  const renewSession = async () => {
    await post({ ...initialization, id: "again" }, closing.signal);
    await post({ jsonrpc: "2.0", method: "notifications/initialized" }, closing.signal);
  };

  const post = async (message: Message, signal: AbortSignal, isRepeated = false): Promise<void> => {
    const isInitialization = message.method === "initialize";
    if (isInitialization) {
      initialization = message;
      agreed = {};
    }
    const response = await ask("POST", AbortSignal.any([signal, closing.signal]), message);
    const session = response.headers[SESSION_HEADER];
    if (isInitialization && typeof session === "string") agreed[SESSION_HEADER] = session;
    if (response.statusCode === 404 && SESSION_HEADER in agreed && !isInitialization && !isRepeated) {
      response.resume();
      renewal ??= renewSession().finally(() => {
        renewal = undefined;
      });
      await renewal;
      return post(message, signal, true);
    }
    if ((response.statusCode ?? 0) >= 300) throw await refusal(response);
    let isAnswered = message.method === undefined || message.id === undefined;
    for await (const each of messagesOf(response)) {
      const isAnswer = each.method === undefined && each.id === message.id;
      isAnswered ||= isAnswer;
      const version = each.result?.["protocolVersion"];
      if (isInitialization && isAnswer && version !== undefined)
        agreed["mcp-protocol-version"] = String(version);
      onMessage(each);
    }
    if (!isAnswered) throw new Error("it has not answered");
  };

  return {
    send: (message, signal = closing.signal) =>
      post(message, signal).catch((error) => {
        throw error.code === "ECONNRESET" ? new Error("the connection has broken") : error;
      }),
    close: async () => {
      if (SESSION_HEADER in agreed) {
        const ended = ask("DELETE", closing.signal).then((response) => response.resume());
        await settlesWithin(ended, GRACE_MS);
      }
      closing.abort();
    },
  };
};
