/**
 * Part of the extension for pi: a client of the Model Context Protocol, as far as tools go. Requests of the server's are
 * declined, but for pings.
 */
export const PI_MCP_CLIENT = `
const PROTOCOL_VERSION = "2025-06-18";
/** Some programs have to be downloaded first. */
const START_TIMEOUT_MS = 60_000;
const MAX_PAGES = 100;
const METHOD_NOT_FOUND = -32601;

const openClient = (server) => {
  /** What becomes of requests, by their ids. */
  const waiting = new Map();
  let lastId = 0;
  let ended;

  const end = (error) => {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(ended);
  };

  const answer = ({ id, method }) => ({
    jsonrpc: "2.0",
    id,
    ...(method === "ping" ? { result: {} } : { error: { code: METHOD_NOT_FOUND, message: "Method not found" } }),
  });

  const onMessage = (message) => {
    const { id, method, params, result, error } = message;
    if (method === "notifications/progress") return waiting.get(params?.progressToken)?.onProgress?.(params);
    if (method !== undefined) return id === undefined ? undefined : void tell(answer(message));
    const request = waiting.get(id);
    if (error === undefined) request?.resolve(result ?? {});
    else request?.reject(new Error(error?.message ?? "it has answered with an error"));
  };

  const transport = ("url" in server ? openAddress : openProgram)(server, { onMessage, onEnd: end });

  /** Nobody waits for an answer to this. */
  const tell = (message) => transport.send(message).catch(() => {});

  const request = (method, params, { signal, onProgress } = {}) => {
    const id = ++lastId;
    const done = new AbortController();
    const cancel = () => {
      waiting.get(id)?.reject(new Error("cancelled"));
      const why = { requestId: id, reason: "The agent was interrupted" };
      return tell({ jsonrpc: "2.0", method: "notifications/cancelled", params: why });
    };
    return new Promise((resolve, reject) => {
      if (ended !== undefined) throw ended;
      signal?.throwIfAborted();
      waiting.set(id, { resolve, reject, cancel, onProgress });
      signal?.addEventListener("abort", cancel);
      const all = onProgress === undefined ? params : { ...params, _meta: { progressToken: id } };
      transport.send({ jsonrpc: "2.0", id, method, params: all }, done.signal).catch(reject);
    }).finally(() => {
      waiting.delete(id);
      signal?.removeEventListener("abort", cancel);
      done.abort();
    });
  };

  const listTools = async () => {
    const tools = [];
    let cursor;
    for (let page = 0; page < MAX_PAGES; page++) {
      const listed = await request("tools/list", cursor === undefined ? {} : { cursor });
      tools.push(...(listed.tools ?? []));
      cursor = listed.nextCursor;
      if (!cursor) break;
    }
    return tools;
  };

  const begin = async () => {
    await request("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: { name: "sanddune", version: "1" },
    });
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return listTools();
  };

  const close = async () => {
    const cancelled = Promise.all([...waiting.values()].map(({ cancel }) => cancel()));
    end(new Error("it was closed"));
    await within(cancelled, GRACE_MS);
    await transport.close();
  };

  return {
    /** Its tools. Whoever does not begin is closed. */
    start: async () => {
      const begun = begin();
      const isInTime = await within(begun, START_TIMEOUT_MS);
      try {
        if (!isInTime) throw new Error("it has not answered for " + START_TIMEOUT_MS / 1000 + " s");
        return await begun;
      } catch (error) {
        void close();
        throw error;
      }
    },
    call: (name, input, options) => request("tools/call", { name, arguments: input }, options),
    close,
  };
};
`;
