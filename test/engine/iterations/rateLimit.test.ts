import { describe, expect, it } from "vitest";
import { RateLimitWaits } from "../../../src/engine/iterations/rateLimit.ts";
import { AgentRateLimitError } from "../../../src/errors.ts";

const NOW = Date.parse("2026-11-16T07:30:00Z");
const limited = (retryAt?: number) =>
  new AgentRateLimitError("fake", "slow down", 1, "", retryAt === undefined ? undefined : new Date(retryAt));

/** How long each of several limits is waited for, one after the other. */
const waits = (waitUpToMs: number, ...ends: readonly (number | undefined)[]) => {
  const patience = new RateLimitWaits({ waitUpToMs });
  return ends.map((end) => patience.nextWaitMs(limited(end === undefined ? undefined : NOW + end), NOW));
};

describe("how long a rate limit is waited for", () => {
  it("is until it ends", () => {
    expect(waits(3_600_000, 90_000)).toEqual([90_000]);
  });

  it("is not at all when that is longer than the caller allows", () => {
    expect(waits(60_000, 60_000)).toEqual([60_000]);
    expect(waits(60_000, 60_001)).toEqual([undefined]);
  });

  it("is bounded by what the caller allows for all limits together", () => {
    expect(waits(100_000, 60_000, 60_000, 40_000, 1000)).toEqual([60_000, undefined, 40_000, undefined]);
  });

  it("is a moment when it should have ended by now, so that no agent is started over and over at once", () => {
    expect(waits(3500, 0, -3_600_000, -1)).toEqual([1000, 2000, undefined]);
  });

  it("is never shorter than a minute in the end, if a limit always comes again that should have ended", () => {
    expect(waits(1_000_000, ...Array(8).fill(0)).slice(-2)).toEqual([60_000, 60_000]);
  });

  it("is longer each time when its end is unknown, and then all that is left", () => {
    expect(waits(500_000, undefined, undefined, undefined, undefined, undefined)).toEqual([
      ...[60_000, 120_000, 240_000, 80_000, undefined],
    ]);
  });

  it("begins with a minute when its end is unknown, however often a reported end was waited for before", () => {
    expect(waits(1_000_000, 0, 0, 0, undefined).at(-1)).toBe(60_000);
  });

  it("is nothing when the caller does not want to wait", () => {
    expect(waits(0, 1000, undefined, 0, -5)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it.each([Number.NaN, 9e99])("is nothing when the end is no time: %d", (end) => {
    expect(waits(3_600_000, end)).toEqual([undefined]);
  });
});
