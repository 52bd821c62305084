import type { IncomingMessage, ServerResponse } from "node:http";
import { TestRequestError, TestServerError } from "../../errors.ts";
import { parseJson } from "../../tools/json/parseJson.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { shorten } from "../../tools/shorten.ts";
import { MAX_BODY_BYTES, MAX_MESSAGE_LENGTH } from "../limits.ts";

const HEADERS = {
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, { ...HEADERS, "Content-Length": Buffer.byteLength(text), ...headers }).end(text);
};

/** The status and the body of the answer to a request that failed. */
export const refusalOf = (
  reason: unknown,
): { readonly status: number; readonly error: string; readonly paths?: readonly string[] } => {
  if (reason instanceof TestRequestError)
    return {
      status: reason.status,
      error: reason.problem,
      ...(reason.paths.length > 0 && { paths: reason.paths }),
    };
  const error = shorten(messageOf(reason), MAX_MESSAGE_LENGTH);
  return { status: reason instanceof TestServerError ? 502 : 500, error };
};

const CHALLENGE = { "WWW-Authenticate": "Bearer" };

export const sendRefusal = (response: ServerResponse, reason: unknown): void => {
  const { status, ...body } = refusalOf(reason);
  // The client may still be sending the rest of a body over the limit.
  if (status === 413) response.shouldKeepAlive = false;
  sendJson(response, status, body, status === 401 ? CHALLENGE : {});
};

/** How much more is read and discarded, so that a client that sends too much still reads the refusal. */
const MAX_DRAINED_BYTES = 16 * MAX_BODY_BYTES;

/** The body of a request, read as JSON; an empty object if there is none. */
export const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else if (bytes > MAX_DRAINED_BYTES) break;
  }
  if (bytes > MAX_BODY_BYTES)
    throw new TestRequestError(`The body has more than ${MAX_BODY_BYTES} bytes. Send a smaller one.`, 413);
  const text = Buffer.concat(chunks).toString();
  if (text.trim() === "") return {};
  const body = parseJson(text);
  if (body !== undefined) return body;
  throw new TestRequestError('The body is not JSON. Send { "parameters": {…} }, or nothing.', 400);
};
