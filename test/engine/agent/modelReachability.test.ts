import * as Effect from "effect/Effect";
import * as TestClock from "effect/testing/TestClock";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../src/agents/contract.ts";
import { AgentOverloadedError, ModelUnreachableError } from "../../../src/errors.ts";
import { OVER, type Play, tell, withClock } from "../iterations/loops.ts";

const VAIN: AgentEvent = { type: "error", kind: "unreachable", message: "ECONNREFUSED", willRetry: true };
const BUSY: AgentEvent = { type: "error", kind: "overloaded", message: "too busy", willRetry: true };
const TEXT: AgentEvent = { type: "text", text: "Hello.\n" };
const TURN: AgentEvent = { type: "turnStart" };

/** Says each of these things so many seconds after the one before, and ends its turn. */
const agent =
  (seconds: number, ...events: readonly AgentEvent[]): Play =>
  (invocation) =>
    Effect.forEach(events, (event) => Effect.andThen(tell(invocation, event), Effect.sleep(seconds * 1000)), {
      discard: true,
    }).pipe(Effect.andThen(tell(invocation, OVER)));

const repeated = (count: number, event = VAIN): AgentEvent[] => Array.from({ length: count }, () => event);
const outcome = async (play: Play, options = {}) =>
  (await withClock(play, { sandboxName: "docker", ...options }, TestClock.adjust("2 hours"))).result;
const SUCCESS = { _tag: "Success" };

describe("an agent that cannot reach its model", () => {
  it("is stopped half a minute after its first attempt, and the error says why, and what to look at", async () => {
    expect(await outcome(agent(10, TURN, ...repeated(100)))).toMatchObject({
      _tag: "Failure",
      failure: {
        name: "ModelUnreachableError",
        problem: "ECONNREFUSED (4 attempts in 30 s)",
        sandbox: "docker",
        message: expect.stringMatching(/cannot reach its model: ECONNREFUSED.*Check the sandbox's network/),
      },
    });
  });

  it("fails in bubblewrap with the option that gives it a network", async () => {
    expect(await outcome(agent(10, ...repeated(100)), { sandboxName: "bubblewrap" })).toMatchObject({
      failure: { message: expect.stringContaining("`network: true`") },
    });
  });

  it("may be caught as a model that is out of order", async () => {
    const { failure } = (await outcome(agent(10, ...repeated(100)))) as { failure: unknown };
    expect(failure).toBeInstanceOf(ModelUnreachableError);
    expect(failure).toBeInstanceOf(AgentOverloadedError);
  });

  it("is not stopped for a few attempts that fail at first", async () => {
    expect(await outcome(agent(10, ...repeated(3), TEXT))).toMatchObject(SUCCESS);
  });

  it("is not stopped while it is silent: its model may be thinking", async () => {
    expect(await outcome(agent(300, VAIN, TEXT))).toMatchObject(SUCCESS);
    expect(await outcome(agent(300, VAIN, VAIN, TEXT))).toMatchObject(SUCCESS);
  });

  it("is not stopped if the model answers between the attempts, if only to refuse", async () => {
    expect(
      await outcome(agent(29, ...Array.from({ length: 9 }, () => [VAIN, BUSY]).flat(), TEXT)),
    ).toMatchObject(SUCCESS);
    expect(await outcome(agent(20, VAIN, TURN, VAIN, TURN, VAIN, TURN, VAIN, TEXT))).toMatchObject(SUCCESS);
  });

  it("has as long as the idle timeout if the model had answered before: there is work that would be interrupted", async () => {
    expect(await outcome(agent(30, TEXT, ...repeated(20), TEXT))).toMatchObject(SUCCESS);
    expect(await outcome(agent(30, TEXT, ...repeated(100)))).toMatchObject({
      failure: { name: "ModelUnreachableError", problem: "ECONNREFUSED (21 attempts in 10 min 0 s)" },
    });
  });
});
