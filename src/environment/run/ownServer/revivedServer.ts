import { EnvironmentStartError } from "../../../errors.ts";
import type { RunningServer } from "./serverCommand.ts";

/** How often a server is restarted that has not answered since. */
const MAX_REVIVALS = 3;

/** Restarts a dead server at the next request; repeats none. A server that keeps dying stays dead. */
export class RevivedServer {
  #revivals = 0;
  #starting: Promise<RunningServer> | undefined;
  /** Why it could not be restarted. */
  #startFailure: EnvironmentStartError | undefined;

  constructor(
    private server: RunningServer,
    private readonly start: () => Promise<RunningServer>,
  ) {}

  /** The running server. Rejects with an `EnvironmentStartError` that has the end of its output. */
  async alive(): Promise<RunningServer> {
    if (this.#starting !== undefined) return this.#starting;
    if (this.server.failure() === undefined) return this.server;
    const reason = this.failure();
    if (reason !== undefined) throw reason;
    this.#starting = this.#revive().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** It has answered: the next failure is a new one. */
  hasAnswered(): void {
    this.#revivals = 0;
    this.#startFailure = undefined;
  }

  /** Why it is not restarted any more; `undefined` while it is. */
  failure(): EnvironmentStartError | undefined {
    const last = this.#startFailure ?? this.server.failure();
    if (last === undefined || this.#revivals < MAX_REVIVALS) return undefined;
    return new EnvironmentStartError(
      `${last.problem}; it was restarted ${MAX_REVIVALS} times, and will not be again`,
      last.log,
    );
  }

  /** Ends it. Abort a start that is under way first. */
  async end(): Promise<void> {
    await this.#starting?.catch(() => {});
    await this.server.end();
  }

  async #revive(): Promise<RunningServer> {
    this.#revivals++;
    await this.server.end();
    try {
      this.server = await this.start();
      this.#startFailure = undefined;
      return this.server;
    } catch (reason) {
      if (reason instanceof EnvironmentStartError) this.#startFailure = reason;
      throw reason;
    }
  }
}
