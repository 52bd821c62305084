import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** What a stand-in for a service answers with. */
export type Reply =
  | { readonly status: number; readonly json?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly file: NodeJS.ReadableStream }
  | {
      readonly contentType: string;
      /** Writes until it calls `end`; gives back what is to be done when the reader has gone. */
      stream(write: (data: string | Buffer) => void, end: () => void): () => void;
    };

/** Something that goes wrong with a request. */
export interface Fault {
  /** Which requests, as `"POST /v2/sandboxes"`. */
  readonly on: RegExp;
  /** How many of them. */
  times: number;
  /** What is answered; nothing at all when it is left out: the connection breaks. */
  readonly status?: number;
  readonly retryAfter?: number;
  /** The words of the answer. */
  readonly message?: string;
  /** What was asked for is done all the same. */
  readonly afterwards?: boolean;
  /** Nothing goes wrong, but this comes before the answer. */
  readonly meanwhile?: () => Promise<void>;
}

export interface LoopbackRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  body(): Promise<Buffer>;
}

/** All of a body, not faster than the line is. */
const readAll = async (message: IncomingMessage, bytesPerMs: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (Number.isFinite(bytesPerMs)) await delay(chunk.length / bytesPerMs);
  }
  return Buffer.concat(chunks);
};

/** A web server on the loopback that speaks for a service, and is as unreliable as a test wants it to be. */
export class Loopback {
  /** What was asked for, in its order, as `"POST /v2/sandboxes"`. */
  readonly log: string[] = [];
  readonly faults: Fault[] = [];
  /** How much was sent to it, and how much it has sent. */
  readonly bytes = { received: 0, sent: 0 };
  /** How fast the line to it is. */
  bytesPerMs = Number.POSITIVE_INFINITY;
  readonly #streams = new Set<ServerResponse>();
  readonly #mute = new WeakSet<ServerResponse>();
  readonly #server = createServer((message, response) => {
    this.#serve(message, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else
        response
          .writeHead(500, { "content-type": "application/json" })
          .end(JSON.stringify({ message: String(error) }));
    });
  });

  constructor(
    private readonly answer: (request: LoopbackRequest) => Promise<Reply>,
    private readonly errorBody: (status: number, message: string) => unknown,
  ) {}

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How often something was asked for. */
  count(pattern: RegExp): number {
    return this.log.filter((line) => pattern.test(line)).length;
  }

  /** Cuts all streams that are open. */
  breakStreams(): void {
    for (const response of this.#streams) response.destroy();
  }

  /** From now on, what is said over the streams that are open is lost on its way. */
  muteStreams(): void {
    for (const response of this.#streams) this.#mute.add(response);
  }

  /** Ends all streams that are open as if everything had been said. */
  endStreams(): void {
    for (const response of this.#streams) response.end();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url ?? "/", "http://loopback");
    const method = message.method ?? "GET";
    const line = `${method} ${url.pathname}`;
    this.log.push(line);
    const body = readAll(message, this.bytesPerMs);
    body.then(
      ({ length }) => {
        this.bytes.received += length;
      },
      () => {},
    );
    const request = { method, url, headers: message.headers, body: () => body };
    const fault = this.faults.find(({ on, times }) => times > 0 && on.test(line));
    // Between looking a sandbox up and doing something in it, nothing is waited for: it may be gone by then.
    await body;
    if (fault === undefined) return this.#send(response, await this.answer(request));
    fault.times--;
    if (fault.meanwhile) {
      await fault.meanwhile();
      return this.#send(response, await this.answer(request));
    }
    if (fault.afterwards) {
      const reply = await this.answer(request);
      if ("stream" in reply)
        reply.stream(
          () => {},
          () => {},
        )();
    }
    if (fault.status === undefined) {
      response.destroy();
      return;
    }
    response.writeHead(fault.status, {
      "content-type": "application/json",
      ...(fault.retryAfter !== undefined && { "retry-after": String(fault.retryAfter) }),
    });
    response.end(JSON.stringify(this.errorBody(fault.status, fault.message ?? "on demand")));
  }

  #send(response: ServerResponse, reply: Reply): void {
    if ("file" in reply) {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      reply.file.pipe(response);
      return;
    }
    if ("stream" in reply) {
      response.writeHead(200, { "content-type": reply.contentType });
      response.flushHeaders();
      this.#streams.add(response);
      const leave = reply.stream(
        (data) => {
          this.bytes.sent += data.length;
          if (!this.#mute.has(response)) response.write(data);
        },
        () => response.end(),
      );
      response.on("close", () => {
        this.#streams.delete(response);
        leave();
      });
      return;
    }
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(reply.json === undefined ? "" : JSON.stringify(reply.json));
  }
}
