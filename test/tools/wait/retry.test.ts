import { describe, expect, it } from "vitest";
import { pause } from "../../../src/tools/wait/pause.ts";
import { doubling, retry, scattered } from "../../../src/tools/wait/retry.ts";

const failing = (times: number) => {
  let calls = 0;
  const work = async () => {
    calls++;
    if (calls <= times) throw new Error(`failure ${calls}`);
    return calls;
  };
  return { work, calls: () => calls };
};
const atOnce = () => 0;

describe("work that is retried", () => {
  it("resolves with the first success", async () => {
    expect(await retry(failing(3).work, { pauseAfter: atOnce })).toBe(4);
  });

  it("rejects with the last error when the attempts are used up", async () => {
    const { work, calls } = failing(9);
    await expect(retry(work, { attempts: 3, pauseAfter: atOnce })).rejects.toThrow("failure 3");
    expect(calls()).toBe(3);
  });

  it("rejects when the policy sees no use in another attempt", async () => {
    const { work, calls } = failing(9);
    const pauseAfter = async (error: unknown) => ((error as Error).message === "failure 2" ? undefined : 0);
    await expect(retry(work, { pauseAfter })).rejects.toThrow("failure 2");
    expect(calls()).toBe(2);
  });

  it("rejects rather than pause for longer than there is time", async () => {
    const { work, calls } = failing(9);
    await expect(retry(work, { timeoutMs: 1000, pauseAfter: () => 1000 })).rejects.toThrow("failure 1");
    expect(calls()).toBe(1);
  });

  it("rejects rather than begin another attempt when a pause took all of the time", async () => {
    const { work, calls } = failing(9);
    const pauseAfter = () => {
      // During the pause.
      const endsAt = performance.now() + 60;
      setImmediate(() => {
        while (performance.now() < endsAt);
      });
      return 1;
    };
    await expect(retry(work, { timeoutMs: 50, pauseAfter })).rejects.toThrow("failure 1");
    expect(calls()).toBe(1);
  });

  it("hears how much time is left", async () => {
    expect(
      await retry(async (leftMs) => leftMs, { timeoutMs: 1000, pauseAfter: atOnce }),
    ).toBeLessThanOrEqual(1000);
  });

  it("rejects with the reason of an abort, during a pause as well", async () => {
    const controller = new AbortController();
    const reason = new Error("stopped");
    const pauseAfter = () => {
      queueMicrotask(() => controller.abort(reason));
      return 60_000;
    };
    await expect(retry(failing(9).work, { signal: controller.signal, pauseAfter })).rejects.toBe(reason);
    const { work, calls } = failing(0);
    await expect(retry(work, { signal: controller.signal, pauseAfter })).rejects.toBe(reason);
    expect(calls()).toBe(0);
  });
});

describe("a pause", () => {
  it("doubles with each failure, and is scattered around that", () => {
    expect([1, 2, 3].map((failures) => doubling(200, failures))).toEqual([200, 400, 800]);
    for (let n = 0; n < 100; n++) {
      expect(scattered(100)).toBeGreaterThanOrEqual(50);
      expect(scattered(100)).toBeLessThan(150);
    }
  });

  it("ends with an abort, without an error", async () => {
    await pause(60_000, AbortSignal.abort());
  });
});
