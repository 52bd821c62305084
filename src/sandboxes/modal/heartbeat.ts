import type { Sandbox } from "modal";
import { SandboxLostError } from "../../errors.ts";
import type { Heartbeat } from "../exec/heartbeat.ts";
import type { LibraryCall } from "../exec/sandboxAccess.ts";
import { MODAL } from "./client.ts";
import { modalEnd } from "./diagnosis.ts";

/** How long Modal may be silent at least; of a short life, a tenth. */
const SILENCE_MS = 2 * 60_000;
const BEATS = 12;
const SHORTEST_BEAT_MS = 500;
const SHORTEST_ANSWER_MS = 1000;

export interface ModalHeartbeat {
  readonly heartbeat: Heartbeat;
  /** Counts the output of a command as a sign of life. */
  heed(command: LibraryCall): LibraryCall;
}

/**
 * Watches a Modal sandbox. Liveness and command execution are different services: a sandbox that one of them answers for is not
 * lost. Modal's word about its end is believed at once.
 */
export const modalHeartbeat = (sandbox: Sandbox, lifetimeMs: number): ModalHeartbeat => {
  const everyMs = Math.max(SHORTEST_BEAT_MS, Math.min(SILENCE_MS, lifetimeMs / 10) / BEATS);
  let hasSpoken = false;
  const beat: Heartbeat["beat"] = async (signal) => {
    const spoke = hasSpoken;
    hasSpoken = false;
    const timeoutMs = Math.max(everyMs / 2, SHORTEST_ANSWER_MS);
    const end = await modalEnd(sandbox, lifetimeMs, { timeoutMs, signal }).catch((error) => {
      if (spoke || hasSpoken) return undefined;
      throw error;
    });
    if (end !== undefined) throw new SandboxLostError(MODAL, end, `Its id: ${sandbox.sandboxId}`);
  };
  return {
    heartbeat: { everyMs, misses: BEATS - 1, beat },
    heed: ({ call }) => ({
      call: ({ onStdoutChunk, onStderrChunk, ...streams }) => {
        const heard = (onChunk: (chunk: Buffer) => void) => (chunk: Buffer) => {
          hasSpoken = true;
          onChunk(chunk);
        };
        return call({
          ...streams,
          onStdoutChunk: heard(onStdoutChunk),
          onStderrChunk: heard(onStderrChunk),
        });
      },
    }),
  };
};
