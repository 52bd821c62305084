import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import type { AgentInvocation } from "../../../src/engine/agent/agentInvoker.ts";
import { AGENT, type Overrides, runLoop, tell } from "./loops.ts";

const SESSIONS = { directory: { inHome: ".fake" }, files: () => [], place: (file: string) => file };

/** Asks for a correction as often as there are texts, and tells what the agent was invoked with. */
const correcting = async (corrections: string[], overrides: Overrides = {}) => {
  const invocations: AgentInvocation[] = [];
  const { ends, signal } = await runLoop(
    (invocation) => {
      invocations.push(invocation);
      const said = invocation.iteration === 1 ? "DONE" : "corrected";
      return tell(invocation, { type: "sessionId", sessionId: "s" }, { type: "text", text: said });
    },
    {
      agent: { ...AGENT, sessions: SESSIONS },
      beginIteration: (_, correction) => Effect.succeed(correction ?? "the prompt"),
      correction: Effect.sync(() => corrections.shift()),
      ...overrides,
    },
  );
  return {
    prompts: invocations.map(({ prompt, resume }) => [prompt, resume?.sessionId]),
    ends: ends.map(({ isLast }) => isLast),
    signal,
  };
};

it("an agent is asked for corrections in its own session, beyond the number of iterations, and its signal still counts", async () => {
  expect(await correcting(["wrong", "still wrong"])).toEqual({
    prompts: [
      ["the prompt", undefined],
      ["wrong", "s"],
      ["still wrong", "s"],
    ],
    ends: [false, false, true],
    signal: "DONE",
  });
});

it("an agent whose tests decide is asked once they pass", async () => {
  const passes = [false, true, true];
  const tests = {
    prepare: Effect.void,
    run: () => Effect.sync(() => passes.shift() ?? false),
    decides: true,
  };
  const { prompts } = await correcting(["wrong"], { maxIterations: 5, tests });
  expect(prompts).toEqual([
    ["the prompt", undefined],
    ["the prompt", undefined],
    ["wrong", "s"],
  ]);
});

it("an agent that has not told its session is not asked", async () => {
  const { prompts } = await correcting(["wrong"], { agent: AGENT });
  expect(prompts).toHaveLength(1);
});
