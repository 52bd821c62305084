import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, type AnswerStream, type Dialect, newId, piecesOf } from "./dialects/dialect.ts";
import { type Turn, usageOf } from "./script.ts";
import { type ModelRequestBody, offeredTools, toolCallOf } from "./tools.ts";

export const sendJson = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
};

const sendError = (response: ServerResponse, dialect: Dialect, turn: Turn, status: number): void =>
  sendJson(response, status, turn.body ?? dialect.error(status, turn.message ?? `scripted error ${status}`), {
    ...(turn.retryAfter !== undefined && { "retry-after": String(turn.retryAfter) }),
    ...turn.headers,
  });

const answerOf = (turn: Turn, model: string, body: ModelRequestBody): Answer => ({
  model,
  thinking: turn.thinking,
  text: turn.text,
  calls: (turn.calls ?? []).map((call) => toolCallOf(call, offeredTools(body))),
  usage: usageOf(turn),
});

const answerStream = (response: ServerResponse, { cut, chunkMs }: Turn): AnswerStream => ({
  send(data, event) {
    if (response.destroyed) return;
    if (event !== undefined) response.write(`event: ${event}\n`);
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  },
  async text(whole, emit) {
    const pieces = piecesOf(whole);
    // What was written has to be on its way before the connection goes.
    for (const piece of cut ? pieces.slice(0, Math.ceil(pieces.length / 2)) : pieces) {
      emit(piece);
      if (chunkMs !== undefined) await delay(chunkMs);
    }
    if (cut) {
      await new Promise<void>((resolve) => response.write("", () => resolve()));
      response.destroy();
    }
  },
});

/** Answers a request with a turn, in a dialect. */
export const reply = async (
  response: ServerResponse,
  {
    dialect,
    turn,
    path,
    model,
    body,
  }: {
    readonly dialect: Dialect;
    readonly turn: Turn;
    readonly path: string;
    readonly model: string;
    readonly body: ModelRequestBody;
  },
): Promise<void> => {
  if (turn.hang) return;
  if (turn.delayMs !== undefined) await delay(turn.delayMs);
  await turn.after?.();
  if (turn.error !== undefined) return sendError(response, dialect, turn, turn.error);
  const answer = answerOf(turn, model, body);
  if (dialect.wantsStream(path, body)) {
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "request-id": newId("req"),
    });
    await dialect.stream(answer, answerStream(response, turn));
    if (!turn.cut) response.end();
  } else if (!turn.cut) {
    sendJson(response, 200, dialect.whole(answer));
  }
  if (turn.cut) response.destroy();
};
