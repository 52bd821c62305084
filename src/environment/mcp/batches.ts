import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";

/** Requests in one message, which revision 2025-03-26 of the protocol allows. */
interface Batch {
  readonly unanswered: Set<RequestId>;
  readonly answers: JSONRPCMessage[];
}

const isRequest = (message: JSONRPCMessage) => "method" in message && "id" in message;

const cancelledBy = (message: JSONRPCMessage): unknown =>
  "method" in message && message.method === "notifications/cancelled"
    ? message.params?.["requestId"]
    : undefined;

/** Answers the requests of a batch in one message, once all of them have an answer. */
export class Batches {
  readonly #open = new Set<Batch>();

  constructor(private readonly write: (answers: readonly JSONRPCMessage[]) => void) {}

  begin(messages: readonly JSONRPCMessage[]): void {
    const ids = messages.flatMap((message) => (isRequest(message) && "id" in message ? [message.id] : []));
    if (ids.length > 0) this.#open.add({ unanswered: new Set(ids as RequestId[]), answers: [] });
  }

  /** A request that is cancelled gets no answer. */
  receive(message: JSONRPCMessage): void {
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) this.#settle(cancelled as RequestId);
  }

  /** Whether a message belongs to a batch, and is sent with the other answers. */
  takes(message: JSONRPCMessage): boolean {
    return !("method" in message) && this.#settle(message.id, message);
  }

  #settle(id: RequestId | undefined, answer?: JSONRPCMessage): boolean {
    const batch = [...this.#open].find(({ unanswered }) => id !== undefined && unanswered.delete(id));
    if (batch === undefined) return false;
    if (answer !== undefined) batch.answers.push(answer);
    if (batch.unanswered.size > 0) return true;
    this.#open.delete(batch);
    if (batch.answers.length > 0) this.write(batch.answers);
    return true;
  }
}
