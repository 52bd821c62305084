import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { TestServerError } from "../../errors.ts";
import { parseJson } from "../../tools/json/parseJson.ts";
import { LineSplitter } from "../../tools/lineSplitter.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import { MAX_FOREIGN_BYTES } from "../limits.ts";

/** The address of a test server, and its token. */
export interface ServerAddress {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  readonly token?: string | undefined;
  /** A Unix socket of the server, for clients in another network. */
  readonly socket?: string | undefined;
}

export interface Question {
  readonly method: "GET" | "POST";
  /** Encoded. */
  readonly path: string;
  readonly body?: unknown;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /** Gets every line of an answer in lines. */
  readonly onLine?: (line: unknown) => void;
}

export interface Answer {
  readonly status: number;
  /** Parsed JSON; `undefined` if there is none, or if the answer came in lines. */
  readonly body: unknown;
}

const HINT = "Check that it runs, and that the address is right.";

const isInLines = ({ headers }: IncomingMessage): boolean =>
  headers["content-type"]?.startsWith("application/x-ndjson") === true;

const readAnswer = async (
  response: IncomingMessage,
  onLine: Question["onLine"],
  url: string,
): Promise<Answer> => {
  const inLines = isInLines(response);
  const chunks: Buffer[] = [];
  const lines = new LineSplitter((line) => onLine?.(parseJson(line)), MAX_FOREIGN_BYTES);
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (inLines) lines.push(chunk);
    else {
      bytes += chunk.length;
      if (bytes > MAX_FOREIGN_BYTES)
        throw new TestServerError(
          url,
          `answers more than ${MAX_FOREIGN_BYTES} bytes`,
          "Ask for fewer tests.",
        );
      chunks.push(chunk);
    }
  }
  if (inLines) lines.end();
  return {
    status: response.statusCode ?? 0,
    body: inLines ? undefined : parseJson(Buffer.concat(chunks).toString()),
  };
};

const answerTo = (asked: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => asked.once("response", resolve).once("error", reject));

const optionsFor = (
  { url, token, socket }: ServerAddress,
  { method, path, accept }: Question,
  body: string | undefined,
) => {
  const { hostname, port, host } = new URL(url);
  return {
    // Only a URL has brackets around an IPv6 address.
    ...(socket === undefined ? { host: hostname.replace(/^\[|\]$/g, ""), port } : { socketPath: socket }),
    method,
    path,
    // A separate connection: the server stops the tests when it is closed.
    agent: false as const,
    headers: {
      Host: host,
      Accept: accept ?? "application/json",
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(body),
      }),
    },
  };
};

/**
 * Sends a request to a test server. There is no time limit, because tests may take long. Rejects with a `TestServerError` if there
 * is no answer, and with `signal.reason` on an abort.
 */
export const askServer = async (address: ServerAddress, question: Question): Promise<Answer> => {
  const { url } = address;
  if (!URL.canParse(url) || new URL(url).protocol !== "http:")
    throw new TestServerError(url, "has no valid address", "Write it as http://127.0.0.1:8000.");
  const { signal, onLine } = question;
  signal?.throwIfAborted();
  const body = question.body === undefined ? undefined : JSON.stringify(question.body);
  const asked = request(optionsFor(address, question, body));
  const stopWaiting = onAbort(signal, () => asked.destroy());
  try {
    asked.end(body);
    return await readAnswer(await answerTo(asked), onLine, url);
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof TestServerError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new TestServerError(url, `does not answer (${code ?? message})`, HINT, { cause });
  } finally {
    stopWaiting();
    asked.destroy();
  }
};
