import { SandboxLostError } from "../../errors.ts";
import { pause } from "../../tools/wait/pause.ts";
import { inTime } from "../../tools/wait/timeLimit.ts";

/** How a sandbox on another machine is watched: only asking shows whether it still exists. */
export interface Heartbeat {
  readonly everyMs: number;
  /** How many beats in a row may fail. */
  readonly misses: number;
  /** How long an answer may take; 30 000 when it is left out. */
  readonly timeoutMs?: number;
  /**
   * Asks the sandbox, and renews its lease where it has one. Rejects if there is no answer; with a `SandboxLostError` if
   * the sandbox is known to be gone: then it is lost at once.
   */
  beat(signal: AbortSignal): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Asks a sandbox again and again until `signal` is aborted; calls `onLost` when it no longer answers. */
export const watch = async (
  heartbeat: Heartbeat,
  signal: AbortSignal,
  onLost: (error: unknown) => void,
): Promise<void> => {
  let missed = 0;
  while (!signal.aborted) {
    // The watch does not keep the process from ending.
    await pause(heartbeat.everyMs, signal, { ref: false });
    if (signal.aborted) return;
    try {
      // After a power cut, connections may never end.
      await inTime(heartbeat.beat, { timeoutMs: heartbeat.timeoutMs ?? DEFAULT_TIMEOUT_MS, signal });
      missed = 0;
    } catch (error) {
      if (signal.aborted) return;
      missed++;
      if (missed > heartbeat.misses || error instanceof SandboxLostError) {
        onLost(error);
        return;
      }
    }
  }
};
