import { mkdirSync } from "node:fs";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { withHostFileErrors } from "../../src/boundary/failures.ts";
import { AgentFailedError, HostFileError } from "../../src/errors.ts";

const failingMkdir = Effect.sync(() => mkdirSync("/proc/cannot/be/made"));

it("an error of the file system is a typed error, with its code and path", async () => {
  const error = await Effect.runPromise(Effect.flip(withHostFileErrors(failingMkdir)));
  expect(error).toBeInstanceOf(HostFileError);
  expect(error).toMatchObject({ errorCode: "ENOENT", path: "/proc/cannot/be/made" });
});

it("a file error during clean-up does not hide the first error", async () => {
  const first = new AgentFailedError("fake", "it failed", 1, "");
  const step = Effect.fail(first).pipe(Effect.onExit(() => failingMkdir));
  const exit = await Effect.runPromiseExit(withHostFileErrors(step));
  if (exit._tag !== "Failure") throw new Error("expected a failure");
  expect(Cause.pretty(exit.cause)).toContain("it failed");
});

it("a bug stays a bug", async () => {
  const exit = await Effect.runPromiseExit(withHostFileErrors(Effect.die(new TypeError("a bug"))));
  expect(exit).toMatchObject({ _tag: "Failure" });
});
