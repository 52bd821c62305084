import type { AgentEvent, AgentIteration, AgentProvider } from "../../../src/agents/contract.ts";
import type { IterationUsage } from "../../../src/options/results.ts";
import { addUsage, NO_USAGE } from "../../../src/options/usage.ts";
import { usageOf } from "../modelServer/script.ts";
import type { Recording } from "./recordings.ts";

/** All that an agent provider makes of what an agent has printed. */
export interface Told {
  readonly text: string;
  /** Names and arguments. */
  readonly calls: readonly (readonly [name: string, input: unknown])[];
  /** What tools have printed, and whether they failed. */
  readonly results: readonly (readonly [output: unknown, isError: boolean | undefined])[];
  readonly usage: IterationUsage | undefined;
  /** Each once. */
  readonly sessions: readonly string[];
  /** What the last result says. */
  readonly verdict: "ok" | "error" | "none";
  readonly problem: string | undefined;
  /** The kinds of trouble; with a `*` where the agent tried again. */
  readonly errors: readonly string[];
}

export const eventsOfType = <Type extends AgentEvent["type"]>(events: readonly AgentEvent[], type: Type) =>
  events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type);

export const told = (events: readonly AgentEvent[]): Told => {
  const result = eventsOfType(events, "result").at(-1);
  return {
    text: eventsOfType(events, "text")
      .map(({ text }) => text)
      .join(""),
    calls: eventsOfType(events, "toolCall").map(({ name, input }) => [name, input]),
    results: eventsOfType(events, "toolResult").map(({ output, isError }) => [output, isError]),
    usage: eventsOfType(events, "usage").reduce<IterationUsage | undefined>(
      (sum, { usage }) => addUsage(sum, usage),
      undefined,
    ),
    sessions: [...new Set(eventsOfType(events, "sessionId").map(({ sessionId }) => sessionId))],
    verdict: result === undefined ? "none" : result.isError ? "error" : "ok",
    problem: result?.message,
    errors: eventsOfType(events, "error").map(({ kind, willRetry }) => kind + (willRetry ? "*" : "")),
  };
};

/** What an agent provider tells of a recorded case: of stdout, then of stderr. */
export const replay = (
  agent: AgentProvider,
  { lines, stderr }: Pick<Recording, "lines" | "stderr">,
  iteration: Partial<AgentIteration> = {},
): AgentEvent[] => {
  const parse = agent.createParser({ prompt: "", iteration: 1, ...iteration });
  return [
    ...lines.flatMap((line) => parse(line, "stdout")),
    ...stderr.flatMap((line) => parse(line, "stderr")),
  ];
};

/** Reads lines of stdout, given as the objects that they hold. */
export const read = (agent: AgentProvider, ...objects: readonly object[]): AgentEvent[] =>
  replay(agent, { lines: objects.map((object) => JSON.stringify(object)), stderr: [] });

/** What the model of a recorded case has counted. */
export const usageInScript = (
  { script }: Pick<Recording, "script">,
  { answers, tellsCacheCreation = false }: { answers?: number; tellsCacheCreation?: boolean },
): IterationUsage => {
  const turns = script.filter(({ error, cut, hang }) => error === undefined && !cut && !hang);
  // The last turn is played again and again.
  return Array.from({ length: answers ?? turns.length }, (_, index) => turns[index] ?? turns.at(-1) ?? {})
    .map(usageOf)
    .map(({ input, output, cacheRead, cacheWrite }) => ({
      inputTokens: input,
      cacheCreationInputTokens: tellsCacheCreation ? cacheWrite : 0,
      cacheReadInputTokens: cacheRead,
      outputTokens: output,
    }))
    .reduce(addUsage, NO_USAGE);
};
