/**
 * Part of the extension for pi: a server of tools at an address, by streamable HTTP.
 *
 * Not with `fetch`: that of pi's gives up on whoever is silent for five minutes, and a tool may take longer. Redirects are
 * followed within the origin alone, since headers may be secrets.
 */
export const PI_MCP_ADDRESS = String.raw`
const protocols = Object.fromEntries(
  ["http", "https"].map((name) => {
    const { Agent, request } = process.getBuiltinModule("node:" + name);
    // Older versions of Node.js know nothing of a proxy.
    return [name + ":", { request, agent: new Agent({ proxyEnv: process.env }) }];
  }),
);

const MAX_REDIRECTS = 5;
const MAX_COMPLAINT = 500;

const textOf = async (response) => {
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part;
  return text;
};

/** The messages of a response, which are a JSON text or come one by one as events. */
const messagesOf = async function* (response) {
  if (!/^text\/event-stream\b/i.test(response.headers["content-type"] ?? "")) {
    yield* messagesIn(await textOf(response));
    return;
  }
  const linesOf = lineSplitter();
  let data = [];
  for await (const part of response.setEncoding("utf8")) {
    for (const line of linesOf(part).map((each) => each.replace(/\r$/, ""))) {
      if (line.startsWith("data:")) data.push(line.slice(5));
      if (line !== "") continue;
      yield* messagesIn(data.join("\n"));
      data = [];
    }
  }
};

const openAddress = ({ url, headers = {} }, { onMessage }) => {
  const closing = new AbortController();
  /** What the server has said at the beginning, and wants to hear again. */
  let agreed = {};
  let beginning;
  /** Settles when it has been begun again. */
  let begun;

  const exchange = (method, message, signal, target = new URL(url), redirects = 0) =>
    new Promise((resolve, reject) => {
      const { request, agent } = protocols[target.protocol];
      const own = { accept: "application/json, text/event-stream", "content-type": "application/json" };
      const sent = request(target, { method, agent, signal, headers: { ...headers, ...own, ...agreed } });
      sent.on("error", reject);
      sent.once("response", (response) => {
        const { statusCode, headers: answered } = response;
        const isMoved = (statusCode === 307 || statusCode === 308) && URL.canParse(answered.location, target);
        const next = isMoved ? new URL(answered.location, target) : target;
        if (!isMoved || next.origin !== target.origin || redirects === MAX_REDIRECTS) return resolve(response);
        response.resume();
        resolve(exchange(method, message, signal, next, redirects + 1));
      });
      sent.end(message && JSON.stringify(message));
    });

  /** The server has forgotten the session: there is to be another, for all who miss it. */
  const beginAgain = async () => {
    await post({ ...beginning, id: "again" }, closing.signal);
    await post({ jsonrpc: "2.0", method: "notifications/initialized" }, closing.signal);
  };

  const post = async (message, signal, isRepeated = false) => {
    const isBeginning = message.method === "initialize";
    if (isBeginning) {
      beginning = message;
      agreed = {};
    }
    const response = await exchange("POST", message, AbortSignal.any([signal, closing.signal]));
    const session = response.headers["mcp-session-id"];
    if (isBeginning && session !== undefined) agreed["mcp-session-id"] = session;
    if (response.statusCode === 404 && "mcp-session-id" in agreed && !isBeginning && !isRepeated) {
      response.resume();
      begun ??= beginAgain().finally(() => {
        begun = undefined;
      });
      await begun;
      return post(message, signal, true);
    }
    if (response.statusCode >= 300) {
      const complaint = (await textOf(response)).trim().slice(0, MAX_COMPLAINT);
      throw new Error(["HTTP " + response.statusCode, complaint].filter(Boolean).join(": "));
    }
    let isAnswered = message.method === undefined || message.id === undefined;
    for await (const each of messagesOf(response)) {
      const isAnswer = each.method === undefined && each.id === message.id;
      isAnswered ||= isAnswer;
      const version = each.result?.protocolVersion;
      if (isBeginning && isAnswer && version !== undefined) agreed["mcp-protocol-version"] = version;
      onMessage(each);
    }
    if (!isAnswered) throw new Error("it has not answered");
  };

  const send = (message, signal = closing.signal) =>
    post(message, signal).catch((error) => {
      throw error.code === "ECONNRESET" ? new Error("the connection has broken") : error;
    });

  return {
    send,
    close: async () => {
      if ("mcp-session-id" in agreed) {
        const ended = exchange("DELETE", undefined, closing.signal).then((response) => response.resume());
        await within(ended, GRACE_MS);
      }
      closing.abort();
    },
  };
};
`;
