import { EnvironmentStartError } from "../../../errors.ts";
import type { RunningServer } from "./serverCommand.ts";

/** How often a server is started again that has not answered anything since. */
const MAX_REVIVALS = 3;

/**
 * A server that is started again when it has died, by the next request. The request that it died of is not repeated. One that keeps
 * dying stays dead.
 */
export class RevivedServer {
  #revivals = 0;
  #starting: Promise<RunningServer> | undefined;
  /** Why it could not be started again. */
  #startFailure: EnvironmentStartError | undefined;

  constructor(
    private server: RunningServer,
    private readonly start: () => Promise<RunningServer>,
  ) {}

  /** The server, alive. Rejects with an `EnvironmentStartError` that has its last words. */
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

  /** It has answered: whatever it dies of next is something new. */
  hasAnswered(): void {
    this.#revivals = 0;
    this.#startFailure = undefined;
  }

  /** Why it is not started again; nothing as long as it is. */
  failure(): EnvironmentStartError | undefined {
    const last = this.#startFailure ?? this.server.failure();
    if (last === undefined || this.#revivals < MAX_REVIVALS) return undefined;
    return new EnvironmentStartError(
      `${last.problem}; it was started again ${MAX_REVIVALS} times, and is not any more`,
      last.log,
    );
  }

  /** Ends it. What still starts it has to be aborted first. */
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
