import { randomUUID } from "node:crypto";
import { TestRequestError } from "../../errors.ts";
import { type Limit, limitTo } from "../../tools/wait/limitTo.ts";
import type { TestSession } from "./testSession.ts";

const MAX_SESSIONS = 16;
const IDLE_MS = 10 * 60_000;

interface KeptSession {
  readonly session: TestSession;
  /** Runs in one session take turns. */
  readonly inTurn: Limit;
  idle: NodeJS.Timeout | undefined;
  users: number;
}

/** Test sessions that callers have begun, until they end them or forget them. */
export class KeptSessions {
  readonly #kept = new Map<string, KeptSession>();
  #beginning = 0;

  /** Keeps a session once `begin` has resolved, and resolves with its name. */
  async add(session: TestSession, begin: () => Promise<unknown>): Promise<string> {
    if (this.#kept.size + this.#beginning >= MAX_SESSIONS)
      throw new TestRequestError(
        `There are ${MAX_SESSIONS} test sessions already. End one: DELETE /sessions/{id}.`,
        429,
      );
    this.#beginning++;
    try {
      await begin();
    } finally {
      this.#beginning--;
    }
    const id = randomUUID();
    const kept: KeptSession = { session, inTurn: limitTo(1), idle: undefined, users: 0 };
    this.#kept.set(id, kept);
    this.#startIdleTime(id, kept);
    return id;
  }

  /** Uses a session when it is free. */
  async use<A>(
    id: string,
    signal: AbortSignal | undefined,
    work: (session: TestSession) => Promise<A>,
  ): Promise<A> {
    const kept = this.#find(id);
    clearTimeout(kept.idle);
    kept.users++;
    try {
      return await kept.inTurn(() => work(this.#find(id).session), signal);
    } finally {
      kept.users--;
      if (kept.users === 0) this.#startIdleTime(id, kept);
    }
  }

  /** Ends a session, after what is being run in it. */
  async end(id: string): Promise<void> {
    const kept = this.#find(id);
    clearTimeout(kept.idle);
    this.#kept.delete(id);
    await kept.inTurn(() => kept.session.end());
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((id) => this.end(id)));
  }

  #find(id: string): KeptSession {
    const kept = this.#kept.get(id);
    if (kept === undefined)
      throw new TestRequestError(
        "There is no such test session: it was ended, perhaps because nobody used it for 10 minutes. Begin another: POST /sessions.",
        404,
      );
    return kept;
  }

  #startIdleTime(id: string, kept: KeptSession): void {
    if (this.#kept.get(id) !== kept) return;
    kept.idle = setTimeout(() => void this.end(id).catch(() => {}), IDLE_MS).unref();
  }
}
