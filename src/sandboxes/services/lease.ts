import type { DeadlineWarning } from "../exec/deadlineWarning.ts";
import type { Heartbeat } from "../exec/heartbeat.ts";

const BEAT_MS = 20_000;
const BEATS_IN_LEASE = 8;
const MISSES = 3;
/** The part of a lease that may be missing without a problem: a failed beat, and the time that creation took. */
const TOLERANCE = 1 / 4;

/** How long a request for a renewal may take. */
export const BEAT_TIMEOUT_MS = 10_000;

/** How long a sandbox of a service may stay. Times are those of `Date.now()`. */
export interface CloudLease {
  readonly leaseMs: number;
  /** When the sandbox was requested, and when it was ready: its life began in between. */
  readonly madeAtMs: number;
  readonly startedByMs: number;
  /** When its lifetime is over. */
  readonly atMs: number;
  readonly deadlineWarning: DeadlineWarning;
}

/**
 * Extends the life of a sandbox again and again, and moves the deadline warning when the service no longer grants it: plans have
 * a longest time. `renew` asks for the wanted time, and resolves with how long the sandbox may live altogether, if the
 * service says so.
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
