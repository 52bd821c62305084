import { pause } from "../../tools/wait/pause.ts";
import { inTime } from "../../tools/wait/timeLimit.ts";
import { askLaunch } from "../exec/runLaunch.ts";
import type { SandboxAccess } from "../exec/sandboxAccess.ts";

/** Why a sandbox is unreachable, and how long to wait for it: not at all, if it is gone. */
export interface Outage {
  readonly problem: string;
  readonly patienceMs: number;
}

const PROBE_TIMEOUT_MS = 10_000;
const PAUSE_MS = { shortest: 200, longest: 2000 } as const;

/** Shared by all commands of a sandbox. After an outage it is asked until it answers or patience ends. */
export class Reachability {
  #isSuspect = false;
  #asking: Promise<void> | undefined;
  #lost: Error | undefined;
  readonly #ended = new AbortController();

  constructor(
    private readonly launch: SandboxAccess["launch"],
    /** Finds out why the sandbox is unreachable. Must not reject. */
    private readonly explain: () => Promise<Outage>,
  ) {}

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** A connection broke, or could not be made. */
  suspect(): void {
    this.#isSuspect = true;
  }

  /** Resolves when the sandbox is reachable. Rejects when it is lost. */
  async wait(signal?: AbortSignal): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    if (!this.#isSuspect) return;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    const asking = this.#asking;
    await inTime(() => asking, { signal });
  }

  /** The sandbox is being closed. */
  end(): void {
    this.#lost ??= new Error("it was closed");
    this.#ended.abort(this.#lost);
  }

  async #answers(): Promise<boolean> {
    const here = this.launch(["sh", "-c", "echo here"], { sudo: false });
    const answer = await askLaunch(here, { timeoutMs: PROBE_TIMEOUT_MS, signal: this.#ended.signal }).catch(
      () => undefined,
    );
    return answer?.stdout === "here\n";
  }

  async #ask(): Promise<void> {
    const begunAt = performance.now();
    for (let pauseMs: number = PAUSE_MS.shortest; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest)) {
      if (await this.#answers()) {
        this.#isSuspect = false;
        return;
      }
      this.#ended.signal.throwIfAborted();
      const { problem, patienceMs } = await this.explain();
      if (performance.now() - begunAt >= patienceMs) {
        this.#lost ??= new Error(problem);
        throw this.#lost;
      }
      await pause(pauseMs, this.#ended.signal);
    }
  }
}
