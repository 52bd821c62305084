import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as TestClock from "effect/testing/TestClock";
import { expect, it } from "vitest";
import { startServer } from "../../../src/engine/environment/tests/startServer.ts";
import type { SandboxHandle } from "../../../src/sandboxes/contract.ts";
import { onAbort } from "../../../src/tools/wait/onAbort.ts";

/** A sandbox in which a server never gets ready. */
const sandbox = {
  exec: (_, { signal } = {}) => new Promise((_resolve, reject) => onAbort(signal, reject)),
} as SandboxHandle;

it("a server has its time from the moment at which it has everything that it needs", async () => {
  const states = Effect.gen(function* () {
    const needed = yield* Deferred.make<void>();
    const server = yield* Effect.forkChild(
      startServer(sandbox, {
        ...{ tool: "tool", args: ["proxy"], timeoutMs: 1000, beginning: Deferred.await(needed) },
        ...{ onProgress: () => {}, onEnd: () => {} },
      }).pipe(Effect.flip),
    );
    yield* TestClock.adjust("1 hour");
    const early = server.pollUnsafe();
    yield* Deferred.succeed(needed, undefined);
    yield* TestClock.adjust("1 second");
    return { early, error: yield* Fiber.join(server) };
  });
  const { early, error } = await Effect.runPromise(
    Effect.scoped(states).pipe(Effect.provide(TestClock.layer())),
  );
  expect(early).toBeUndefined();
  expect(error.message).toContain("it was not ready within 1000 ms");
});
