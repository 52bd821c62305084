import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type AgentStreamEvent,
  BudgetExceededError,
  claudeCode,
  command,
  InvalidOptionsError,
  type IterationUsage,
  type RunOptions,
  run,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import type { Script, Turn } from "../../helpers/modelServer/script.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  AGENTS,
  type AgentName,
  listening,
  PATIENCE,
  PROVIDERS,
  runReal,
  scriptedModel,
  turnsOf,
} from "./realAgents.ts";

/** Agents that tell what they use with each answer of the model can be stopped in the middle of a turn. */
const TELL_AT_ONCE: readonly AgentName[] = ["claude", "pi"];
const SIGNAL = "<promise>COMPLETE</promise>";

/** An answer has more than 2000 tokens, 34 of them output: two of them are too much, one is not. */
const LIMITS = {
  maxTokens: { maxTokens: 3000 },
  maxCostUsd: {
    maxCostUsd: 2,
    prices: { inputPerMillion: 0, outputPerMillion: 50_000 },
  },
} as const satisfies Record<string, Partial<RunOptions>>;

const CASES: readonly (readonly [AgentName, keyof typeof LIMITS])[] = [
  ["claude", "maxTokens"],
  ["claude", "maxCostUsd"],
  ["codex", "maxTokens"],
  ["pi", "maxCostUsd"],
];

const sumOf: Record<keyof typeof LIMITS, (usage: IterationUsage) => number> = {
  maxTokens: (usage) =>
    usage.inputTokens + usage.outputTokens + usage.cacheCreationInputTokens + usage.cacheReadInputTokens,
  maxCostUsd: (usage) => (usage.outputTokens * 50_000) / 1_000_000,
};

/** What had been used after the event that went beyond the limit; an agent may say more before it is gone. */
const usedWhenBeyond = (
  events: readonly AgentStreamEvent[],
  option: keyof typeof LIMITS,
  limit: number,
): number => {
  let used = 0;
  for (const event of events) {
    if (event.type === "usage" && used <= limit) used += sumOf[option](event.usage);
  }
  return used;
};

const committing = (name: string): Turn => ({
  text: `Making ${name}.`,
  calls: [{ shell: `echo ${name} > ${name}.txt && git add . && git commit -qm 'Add ${name}'` }],
});

const atWork = async (agent: AgentName, script: Script, options: Partial<RunOptions>) => {
  const cwd = temporaryRepository();
  const model = await scriptedModel(script);
  const { events, logging } = listening();
  const running = runReal({
    ...{ agent, sandbox: "bubblewrap", model, cwd, options: { logging, ...options } },
    // Sessions have tests of their own.
    provider: (name) => ({ ...PROVIDERS[agent](name), captureSessions: false }),
  });
  return { cwd, model, events, running };
};

const failureOf = (running: Promise<unknown>): Promise<BudgetExceededError> =>
  running.then(
    () => expect.unreachable("The run has succeeded"),
    (error) => error,
  );

const subjects = (cwd: string): string[] =>
  git(cwd, "log", "--reverse", "--format=%s", "main..agent/work").split("\n");

describeSideBySide("a budget of a real agent", () => {
  for (const [agent, limit] of CASES) {
    const tellsAtOnce = TELL_AT_ONCE.includes(agent);
    const when = tellsAtOnce ? "in the middle of its turn" : "so that there is no other iteration";
    describeWith([AGENTS[agent].runtime, "bubblewrap"], `${limit} of the real ${agent}`, () => {
      it(
        `stops it after the event that goes beyond it, ${when}, and what was committed is kept`,
        PATIENCE,
        async () => {
          const { cwd, model, events, running } = await atWork(
            agent,
            [
              committing("first"),
              { text: "Looking.", ...(tellsAtOnce && { calls: [{ shell: "true" }] }) },
              // Who is to be stopped by then gets no answer.
              tellsAtOnce ? { hang: true } : committing("third"),
            ],
            { maxIterations: 3, ...LIMITS[limit] },
          );
          const error = await failureOf(running);
          expect(error).toBeInstanceOf(BudgetExceededError);
          expect(error.option).toBe(limit);
          expect(error.limit).toBe(
            limit === "maxTokens" ? LIMITS.maxTokens.maxTokens : LIMITS.maxCostUsd.maxCostUsd,
          );
          expect(error.used).toBeGreaterThan(error.limit);
          expect(error.used).toBeCloseTo(usedWhenBeyond(events, limit, error.limit), 6);
          expect(subjects(cwd)).toEqual(["Add first"]);
          expect(error.commits).toEqual([{ sha: git(cwd, "rev-parse", "agent/work") }]);
          if (!tellsAtOnce) expect(turnsOf(model)).toHaveLength(2);
          expect(new Set(events.map(({ iteration }) => iteration))).toEqual(new Set([1]));
          expect(leftovers(cwd)).toEqual([]);
        },
      );
    });
  }

  for (const agent of ["claude", "codex"] as const) {
    describeWith([AGENTS[agent].runtime, "bubblewrap"], `a budget of the real ${agent}`, () => {
      it(
        "is no reason to fail when its very last words go beyond it, and they are that it is done",
        PATIENCE,
        async () => {
          const { cwd, running } = await atWork(
            agent,
            [committing("first"), { text: `All done. ${SIGNAL}` }],
            {
              maxIterations: 3,
              ...LIMITS.maxTokens,
            },
          );
          const result = await running;
          expect(result.completionSignal).toBe(SIGNAL);
          expect(result.usage && sumOf.maxTokens(result.usage)).toBeGreaterThan(LIMITS.maxTokens.maxTokens);
          expect(subjects(cwd)).toEqual(["Add first"]);
        },
      );
    });
  }
});

describe("a budget that means nothing", () => {
  const { prices } = LIMITS.maxCostUsd;
  it.each<[string, Partial<RunOptions>, string]>([
    ["a cost without prices", { maxCostUsd: 1 }, "maxCostUsd"],
    ["prices without a cost", { prices }, "prices"],
    ["tokens of an agent that does not tell", { agent: command("true"), maxTokens: 1000 }, "maxTokens"],
    [
      "the cost of an agent that does not tell",
      { agent: command("true"), maxCostUsd: 1, prices },
      "maxCostUsd",
    ],
    ["no tokens at all", { maxTokens: 0 }, "maxTokens"],
    ["a fraction of a token", { maxTokens: 0.5 }, "maxTokens"],
    ["no cost at all", { maxCostUsd: 0, prices }, "maxCostUsd"],
    ["an endless cost", { maxCostUsd: Number.POSITIVE_INFINITY, prices }, "maxCostUsd"],
    ["a price below zero", { maxCostUsd: 1, prices: { ...prices, inputPerMillion: -1 } }, "prices"],
    ["a price that is missing", { maxCostUsd: 1, prices: { inputPerMillion: 1 } as never }, "prices"],
  ])("is refused before anything is created: %s", async (_, options, option) => {
    const cwd = temporaryRepository();
    const running = run({
      agent: claudeCode("claude-sonnet-4-5"),
      sandbox: testIsolated(),
      cwd,
      prompt: "Work",
      ...options,
    } as RunOptions);
    const error = await running.then(
      () => undefined,
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain(option);
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });
});
