import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { runHooks } from "../../../src/engine/hooks/runHook.ts";
import type { HostHook } from "../../../src/index.ts";
import { Redactor } from "../../../src/redaction/redactor.ts";

const output = { onLine: () => {}, redactor: new Redactor(new Map()) };

const timeoutOf = async (hook: HostHook): Promise<number[]> => {
  const given: number[] = [];
  const run = async (_: HostHook, { timeoutMs }: { timeoutMs: number }) => {
    given.push(timeoutMs);
    return { exitCode: 0, stdout: "", stderr: "" };
  };
  await Effect.runPromise(runHooks({ name: "host.onWorktreeReady", run }, [hook], output));
  return given;
};

it("a hook has 60 seconds, unless it asks for another time", async () => {
  expect(await timeoutOf({ command: "true" })).toEqual([60_000]);
  expect(await timeoutOf({ command: "true", timeoutMs: 300_000 })).toEqual([300_000]);
  expect(await timeoutOf({ command: "true", timeoutMs: 5 })).toEqual([5]);
});
