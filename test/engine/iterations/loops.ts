import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as TestClock from "effect/testing/TestClock";
import type { AgentEvent, AgentProvider, AgentStreamEvent } from "../../../src/agents/contract.ts";
import { type AgentInvocation, AgentInvoker } from "../../../src/engine/agent/agentInvoker.ts";
import {
  type IterationEnd,
  type IterationLoop,
  runIterations,
} from "../../../src/engine/iterations/iterationLoop.ts";
import type { SandduneError } from "../../../src/errors.ts";
import { type AgentSettings, agentSettings } from "../../../src/options/agentSettings.ts";

/** What a fake agent does in an iteration. */
export type Play = (invocation: AgentInvocation) => Effect.Effect<void, SandduneError>;

const EXIT = { exitCode: 0, stderr: "", program: "fake" };

export const say = (invocation: AgentInvocation, text: string) =>
  Effect.sync(() => invocation.onEvent({ type: "text", text }));

export interface Observed {
  readonly events: AgentStreamEvent[];
  readonly ends: IterationEnd[];
  readonly warnings: string[];
  /** Until when the agent has had to wait, and that it has gone on. */
  readonly waits: (Date | "over")[];
}

export const AGENT: AgentProvider = {
  name: "fake",
  buildCommand: () => ({ command: "", stdin: "" }),
  createParser: () => () => [],
};

/** Parts of the loop, and options of the agent. */
export type Overrides = Partial<
  Omit<IterationLoop, "options"> &
    Pick<
      AgentSettings,
      | ("agent" | "maxIterations" | "completionSignal" | "idleTimeoutSeconds")
      | ("completionTimeoutMs" | "maxTokens" | "onRateLimit")
    >
>;

export const loopOf = (overrides: Overrides = {}) => {
  const observed: Observed = { events: [], ends: [], warnings: [], waits: [] };
  const loop: IterationLoop = {
    options: agentSettings({ agent: AGENT, completionSignal: "DONE", ...overrides }),
    sandbox: {} as IterationLoop["sandbox"],
    cwd: "/",
    env: {},
    beginIteration: () => Effect.succeed("the prompt"),
    onEvent: (event) => observed.events.push(event),
    onLine: () => {},
    onWait: (until) => {
      observed.waits.push(until);
      return () => void observed.waits.push("over");
    },
    redactCaptured: (text) => text,
    onWarning: (sentence) => observed.warnings.push(sentence),
    afterIteration: (end) => Effect.sync(() => void observed.ends.push(end)),
    ...overrides,
  };
  return { loop, observed };
};

export const play = <A, E>(effect: Effect.Effect<A, E, AgentInvoker>, agent: Play) =>
  effect.pipe(
    Effect.provideService(AgentInvoker, { invoke: (invocation) => Effect.as(agent(invocation), EXIT) }),
    Effect.provide(TestClock.layer()),
  );

export const runLoop = (agent: Play, overrides: Overrides = {}) => {
  const { loop, observed } = loopOf(overrides);
  return Effect.runPromise(play(runIterations(loop), agent)).then((signal) => ({ signal, ...observed }));
};

/** Starts the loop, lets the test move the clock, and gives what became of it. */
export const withClock = (
  agent: Play,
  overrides: Overrides,
  move: Effect.Effect<void>,
): Promise<{ result: unknown } & Observed> => {
  const { loop, observed } = loopOf(overrides);
  const program = Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.result(runIterations(loop)));
    yield* Effect.yieldNow;
    yield* move;
    return { result: yield* Fiber.join(fiber), ...observed };
  });
  return Effect.runPromise(play(program, agent));
};

/** Says several things, one after the other. */
export const tell = (invocation: AgentInvocation, ...events: readonly AgentEvent[]) =>
  Effect.sync(() => {
    for (const event of events) invocation.onEvent(event);
  });

/** How an agent says that its turn is over. */
export const OVER: AgentEvent = { type: "result", isError: false };

export const tokens = (outputTokens: number): AgentEvent => ({
  type: "usage",
  usage: { inputTokens: 0, cacheCreationInputTokens: 0, cacheReadInputTokens: 0, outputTokens },
});
