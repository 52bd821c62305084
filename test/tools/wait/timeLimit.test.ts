import { describe, expect, it } from "vitest";
import { LinkedController } from "../../../src/tools/wait/linkedController.ts";
import { inTime, TimeLimitError, withTimeLimit } from "../../../src/tools/wait/timeLimit.ts";

const never = new Promise<never>(() => {});

describe("work with a time limit", () => {
  it("is aborted, waited for, and rejects with the limit", async () => {
    let isOver = false;
    const work = withTimeLimit(
      5,
      undefined,
      (signal) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => {
            isOver = true;
            reject(new Error("its own words"));
          });
        }),
    );
    await expect(work).rejects.toThrow(TimeLimitError);
    expect(isOver).toBe(true);
  });

  it("rejects with its own error before that", async () => {
    const failure = new Error("it failed");
    await expect(withTimeLimit(60_000, undefined, () => Promise.reject(failure))).rejects.toBe(failure);
  });
});

describe("a call that never answers", () => {
  it("is not waited for after its time", async () => {
    await expect(inTime(() => never, { timeoutMs: 5 })).rejects.toThrow("there was no answer within 5 ms");
  });

  it("keeps the time limit of a call within it", async () => {
    const inner = new TimeLimitError("there was no answer within 5 ms");
    await expect(inTime(() => Promise.reject(inner), {})).rejects.toBe(inner);
  });

  it("is not waited for after an abort", async () => {
    const controller = new AbortController();
    const call = inTime(() => never, { timeoutMs: 60_000, signal: controller.signal });
    const reason = new Error("stopped");
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await expect(inTime(() => never, { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe("a linked controller", () => {
  it("is aborted by the first of its signals, or by itself", () => {
    const [first, second] = [new AbortController(), new AbortController()];
    using linked = new LinkedController(first.signal, undefined, second.signal);
    second.abort("second");
    first.abort("first");
    expect(linked.signal.reason).toBe("second");
    using own = new LinkedController(new AbortController().signal);
    own.abort("own");
    expect(own.signal.reason).toBe("own");
    using late = new LinkedController(first.signal);
    expect(late.signal.reason).toBe("first");
  });

  it("is not aborted any more once it is disposed of", () => {
    const other = new AbortController();
    const linked = new LinkedController(other.signal);
    linked[Symbol.dispose]();
    other.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});
