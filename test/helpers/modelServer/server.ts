import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./dialects/anthropic.ts";
import { chat } from "./dialects/chat.ts";
import type { Dialect } from "./dialects/dialect.ts";
import { gemini } from "./dialects/gemini.ts";
import { responses } from "./dialects/responses.ts";
import { reply, sendJson } from "./reply.ts";
import { type Player, playerOf, type Script, type Turn } from "./script.ts";
import { type ModelRequestBody, offeredTools } from "./tools.ts";

const DIALECTS: readonly Dialect[] = [anthropic, responses, chat, gemini];
const DEFAULT_SCRIPT = "default";

/** A request that came in. */
export interface ModelRequest {
  readonly method: string;
  /** Without the name of the script. */
  readonly path: string;
  readonly script: string;
  /** `turn` and `side` are answers of the model, `models` and `count` questions about it. */
  readonly kind: "turn" | "side" | "models" | "count" | "unknown";
  readonly dialect?: Dialect["name"];
  readonly model?: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ModelRequestBody;
  /** What it was answered with. */
  readonly turn?: Turn;
}

export interface ModelServer extends AsyncDisposable {
  readonly port: number;
  /** Plays the script that the server was started with. */
  readonly url: string;
  /** Plays the script of that name. */
  scriptUrl(name: string): string;
  /** Adds a script, or starts over with another one. */
  play(name: string, script: Script): void;
  /** All that came in so far, in order. */
  readonly requests: readonly ModelRequest[];
  /** Breaks every connection that is left. */
  close(): Promise<void>;
}

export interface ModelServerOptions {
  /** More scripts, by name. */
  readonly scripts?: Readonly<Record<string, Script>>;
  readonly host?: string;
  readonly port?: number;
}

const readBody = async (request: IncomingMessage): Promise<ModelRequestBody> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    return {};
  }
};

/**
 * A model that plays a script to real agents, in the dialect that each of them speaks, whatever the path before it. A
 * turn answers a request; `shell` and `write` calls become calls of the tools that the agent offers.
 *
 * @example
 * await using server = await startModelServer([{ calls: [{ shell: "git status" }] }, { text: "Clean." }]);
 * // ANTHROPIC_BASE_URL: server.url
 */
export const startModelServer = async (
  script: Script = [{ text: "ok" }],
  { scripts = {}, host = "127.0.0.1", port = 0 }: ModelServerOptions = {},
): Promise<ModelServer> => {
  const players = new Map<string, Player>();
  const play = (name: string, next: Script): void => {
    players.set(name, playerOf(next));
  };
  for (const [name, each] of Object.entries({ [DEFAULT_SCRIPT]: script, ...scripts })) play(name, each);

  const requests: ModelRequest[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    const method = request.method ?? "";
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const [, name = DEFAULT_SCRIPT, path = ""] = /^(?:\/@([^/]+))?(.*)$/.exec(pathname) ?? [];
    const model = body.model ?? /\/models\/([^/:]+):/.exec(path)?.[1];
    const note = (details: Pick<ModelRequest, "kind" | "dialect" | "turn">): void => {
      const { headers } = request;
      requests.push({
        method,
        path,
        script: name,
        ...(model !== undefined && { model }),
        headers,
        body,
        ...details,
      });
    };

    if (method === "GET" && path.endsWith("/models")) {
      note({ kind: "models" });
      const data = [{ id: "scripted", object: "model", owned_by: "local" }];
      return sendJson(response, 200, { object: "list", data, models: [] });
    }
    if (/(\/count_tokens|:countTokens)$/.test(path)) {
      note({ kind: "count" });
      return sendJson(response, 200, { input_tokens: 10, totalTokens: 10 });
    }
    const dialect = method === "POST" ? DIALECTS.find((each) => each.matches(path)) : undefined;
    const player = players.get(name);
    if (!dialect || !player) {
      note({ kind: "unknown" });
      const message = dialect ? `no script is called ${name}` : `nothing answers ${method} ${path}`;
      return sendJson(response, 404, dialect?.error(404, message) ?? { error: { message } });
    }
    const { kind, turn } = player.answer({ offersTools: offeredTools(body).length > 0 });
    note({ kind, dialect: dialect.name, turn });
    await reply(response, { dialect, turn, path, model: model ?? "scripted", body }).catch((error: Error) => {
      if (response.headersSent) throw error;
      sendJson(response, 400, dialect.error(400, error.message));
    });
  };

  const server = createServer((request, response) => {
    // Whoever hangs up in the middle gets no answer.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const url = `http://${host}:${address.port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    port: address.port,
    url,
    scriptUrl: (name) => `${url}/@${name}`,
    play,
    requests,
    close,
    [Symbol.asyncDispose]: close,
  };
};
