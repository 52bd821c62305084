import type { DeadlineWarning } from "../exec/deadlineWarning.ts";
import type { Heartbeat } from "../exec/heartbeat.ts";

const BEAT_MS = 20_000;
const BEATS_IN_LEASE = 8;
const MISSES = 3;
/** What of a lease may be missing without anything being wrong: a beat that has failed, and how long the making took. */
const TOLERANCE = 1 / 4;

/** How long a request may take. */
export const BEAT_TIMEOUT_MS = 10_000;

/** What a sandbox of a service may stay for. Times are those of `Date.now()`. */
export interface CloudLease {
  readonly leaseMs: number;
  /** When the sandbox was asked for, and when it was there: its life has begun in between. */
  readonly madeAtMs: number;
  readonly startedByMs: number;
  /** When its lifetime is over. */
  readonly atMs: number;
  readonly deadlineWarning: DeadlineWarning;
}

/**
 * Has a sandbox stay for longer, again and again, and tells its last call when that does not help any more: a plan has a longest
 * time. `renew` asks for the time that is wanted, and resolves with how long the sandbox may live now altogether, if the service
 * has said so.
 */
export const cloudLease = (
  { leaseMs, madeAtMs, startedByMs, atMs, deadlineWarning }: CloudLease,
  renew: (wantedMs: number, signal: AbortSignal) => Promise<number | undefined>,
): Heartbeat => ({
  everyMs: Math.min(BEAT_MS, leaseMs / BEATS_IN_LEASE),
  misses: MISSES,
  beat: async (signal) => {
    const wantedMs = Math.min(Date.now() + leaseMs, atMs);
    const livesMs = await renew(wantedMs, signal);
    signal.throwIfAborted();
    if (livesMs === undefined) return;
    const isShort = startedByMs + livesMs < wantedMs - leaseMs * TOLERANCE;
    deadlineWarning.expectEnd(isShort ? madeAtMs + livesMs : atMs);
  },
});
