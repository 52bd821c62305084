import { expect, it } from "vitest";
import { untilAccepted } from "../../../src/sandboxes/services/untilAccepted.ts";
import { inTime } from "../../../src/tools/wait/timeLimit.ts";

it("rejects with the refusal if there is no time left for another answer", async () => {
  const refusal = new Error("no free capacity");
  const leftMs: number[] = [];
  const ask = (timeoutMs: number): Promise<never> => {
    leftMs.push(timeoutMs);
    return leftMs.length === 1 ? Promise.reject(refusal) : inTime(() => new Promise(() => {}), { timeoutMs });
  };
  const transienceOf = (error: unknown) => (error === refusal ? { retryAfterMs: 1 } : undefined);
  await expect(untilAccepted(ask, { timeoutMs: 200, transienceOf })).rejects.toBe(refusal);
  expect(leftMs).toHaveLength(2);
});
