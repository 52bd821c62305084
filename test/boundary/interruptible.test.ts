import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { attempt } from "../../src/boundary/failures.ts";
import { interruptible } from "../../src/boundary/interruptible.ts";
import { ClosedError } from "../../src/errors.ts";

const reasonsOf = async (effect: Effect.Effect<unknown, unknown>) => {
  const exit = await Effect.runPromiseExit(effect);
  return exit._tag === "Failure" ? exit.cause.reasons : [];
};

describe.each([
  ["a promise", (reason: unknown) => interruptible(() => Promise.reject(reason))],
  [
    "a function",
    (reason: unknown) =>
      attempt(() => {
        throw reason;
      }),
  ],
])("an effect of %s", (_, lift) => {
  it("fails with a SandduneError", async () => {
    const error = new ClosedError("sandbox");
    expect(await reasonsOf(lift(error))).toEqual([Cause.makeFailReason(error)]);
  });

  it("dies with anything else", async () => {
    const bug = new TypeError("a bug");
    expect(await reasonsOf(lift(bug))).toEqual([Cause.makeDieReason(bug)]);
  });
});

it("interruption aborts the promise and waits until it has settled", async () => {
  const happened: string[] = [];
  const work = interruptible(async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await Promise.resolve();
    happened.push("settled");
  });
  const controller = new AbortController();
  const exit = Effect.runPromiseExit(work, { signal: controller.signal });
  controller.abort();
  expect((await exit)._tag).toBe("Failure");
  expect(happened).toEqual(["settled"]);
});
