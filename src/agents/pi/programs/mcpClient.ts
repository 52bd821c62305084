import { onAbort } from "../../../tools/wait/onAbort.ts";
import type { McpServer } from "../../contract.ts";
import { openHttp } from "./httpTransport.ts";
import { GRACE_MS, type Message, settlesWithin } from "./messages.ts";
import { openStdio } from "./stdioTransport.ts";

const PROTOCOL_VERSION = "2025-06-18";
/** Some servers have to be downloaded first. */
const START_TIMEOUT_MS = 60_000;
const MAX_PAGES = 100;
const METHOD_NOT_FOUND = -32601;

export interface Progress {
  readonly message?: string;
  readonly progress?: number;
  readonly total?: number;
}

/** A tool as a server describes it. */
export interface ServerTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: object;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: Progress) => void;
}

interface PendingRequest extends CallOptions {
  resolve(result: Readonly<Record<string, unknown>>): void;
  reject(reason: Error): void;
  cancel(): Promise<void>;
}

export interface McpClient {
  /** Resolves with the server's tools. A server that fails to start is closed. */
  start(): Promise<readonly ServerTool[]>;
  call(name: string, input: unknown, options: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  close(): Promise<void>;
}

/** The server may ask too: it gets an answer to a ping, and a refusal of everything else. */
const answerTo = ({ id, method }: Message): Message => ({
  jsonrpc: "2.0",
  ...(id !== undefined && { id }),
  ...(method === "ping"
    ? { result: {} }
    : { error: { code: METHOD_NOT_FOUND, message: "Method not found" } }),
});

/** A client of the Model Context Protocol that uses tools, and nothing else of it. */
export const openClient = (server: McpServer): McpClient => {
  const pending = new Map<unknown, PendingRequest>();
  let lastId = 0;
  let ended: Error | undefined;

  const end = (error: Error) => {
    ended ??= error;
    for (const { reject } of pending.values()) reject(ended);
  };

  const onMessage = (message: Message) => {
    const { id, method, params, result, error } = message;
    if (method === "notifications/progress") {
      pending.get(params?.["progressToken"])?.onProgress?.(params as Progress);
    } else if (method !== undefined) {
      if (id !== undefined) void notify(answerTo(message));
    } else if (error === undefined) pending.get(id)?.resolve(result ?? {});
    else pending.get(id)?.reject(new Error(error?.message ?? "it has answered with an error"));
  };

  const events = { onMessage, onEnd: end };
  const transport = "url" in server ? openHttp(server, events) : openStdio(server, events);

  /** Sends a message that gets no answer. */
  const notify = (message: Message) => transport.send(message).catch(() => {});

  const request = (method: string, params: object, { signal, onProgress }: CallOptions = {}) => {
    const id = ++lastId;
    const done = new AbortController();
    let stopWaiting = () => {};
    const cancel = () => {
      pending.get(id)?.reject(new Error("cancelled"));
      const why = { requestId: id, reason: "The agent was interrupted" };
      return notify({ jsonrpc: "2.0", method: "notifications/cancelled", params: why });
    };
    return new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      if (ended !== undefined) throw ended;
      signal?.throwIfAborted();
      pending.set(id, { resolve, reject, cancel, ...(onProgress && { onProgress }) });
      stopWaiting = onAbort(signal, () => void cancel());
      const all = { ...params, ...(onProgress && { _meta: { progressToken: id } }) };
      transport.send({ jsonrpc: "2.0", id, method, params: all }, done.signal).catch(reject);
    }).finally(() => {
      pending.delete(id);
      stopWaiting();
      done.abort();
    });
  };

  const listTools = async () => {
    const tools: ServerTool[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const listed = await request("tools/list", cursor === undefined ? {} : { cursor });
      tools.push(...((listed["tools"] ?? []) as ServerTool[]));
      cursor = listed["nextCursor"];
      if (!cursor) break;
    }
    return tools;
  };

  const initialize = async () => {
    await request("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: { name: "sanddune", version: "1" },
    });
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return listTools();
  };

  const close = async () => {
    const cancelled = Promise.all([...pending.values()].map(({ cancel }) => cancel()));
    end(new Error("it was closed"));
    await settlesWithin(cancelled, GRACE_MS);
    await transport.close();
  };

  return {
    start: async () => {
      const tools = initialize();
      try {
        if (!(await settlesWithin(tools, START_TIMEOUT_MS)))
          throw new Error(`it has not answered for ${START_TIMEOUT_MS / 1000} s`);
        return await tools;
      } catch (error) {
        void close();
        throw error;
      }
    },
    call: (name, input, options) => request("tools/call", { name, arguments: input }, options),
    close,
  };
};
