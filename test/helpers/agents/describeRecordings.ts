import { describe, expect, it } from "vitest";
import type { AgentEvent, AgentOutputParser, AgentProvider } from "../../../src/agents/contract.ts";
import { CompletionSignalMatcher } from "../../../src/engine/iterations/completionSignal.ts";
import { DEFAULT_COMPLETION_SIGNAL } from "../../../src/options/agentSettings.ts";
import { LineSplitter } from "../../../src/tools/lineSplitter.ts";
import { eventsOfType, replay, type Told, told, usageInScript } from "./agentEvents.ts";
import { type RecordedAgent, recordedCases, recording } from "./recordings.ts";

/** What is to be told of a recorded case. What is left out is nothing; the usage is what the model's script says. */
export interface Golden extends Partial<Told> {
  readonly verdict: Told["verdict"];
  /** How many answers of the model the agent has got; all of its script when it is left out. */
  readonly answers?: number;
}

const hasSignal = (events: readonly AgentEvent[]): boolean => {
  const matcher = new CompletionSignalMatcher([DEFAULT_COMPLETION_SIGNAL]);
  for (const { text } of eventsOfType(events, "text")) matcher.push(text);
  return matcher.matched !== undefined;
};

const isRaw = (events: readonly AgentEvent[], line: string): boolean =>
  events.length === 1 && events[0]?.type === "raw" && events[0].line === line;

const GARBAGE = [
  "",
  " ",
  "{",
  "{}}",
  "null",
  "42",
  '"text"',
  "[]",
  '[{"type":"result"}]',
  "\u0000\u001b[31m\ufffd",
  "{'type':'result'}",
  "npm warn deprecated",
  `${"[".repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}`,
];

/** Members of the wrong type, wherever a parser may look. */
const WRONG_VALUES = [null, true, -1, 1e308, "text", [], [[null]], {}, { type: {} }, { content: [null, 7] }];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Copies of an object in each of which one value, at any depth, is another one. */
const mutationsOf = (object: Record<string, unknown>): Record<string, unknown>[] =>
  Object.entries(object).flatMap(([key, value]) => [
    ...WRONG_VALUES.map((wrong) => ({ ...object, [key]: wrong })),
    ...(isRecord(value) ? mutationsOf(value).map((mutation) => ({ ...object, [key]: mutation })) : []),
  ]);

/** The names of all members of an object and of those inside it. */
const shapeOf = (object: Record<string, unknown>): string =>
  Object.entries(object)
    .map(([key, value]) => `${key}${isRecord(value) ? `{${shapeOf(value)}}` : ""}`)
    .sort()
    .join();

/** One of each kind of line: the shortest. */
const kindsOf = (lines: readonly string[]): string[] => {
  const kinds = new Map<string, string>();
  for (const line of [...lines].sort((one, other) => other.length - one.length)) {
    const object = JSON.parse(line) as Record<string, unknown>;
    kinds.set(`${object["type"]} ${shapeOf(object)}`, line);
  }
  return [...kinds.values()];
};

/** What holds for every recording of every agent, and what is to be told of each of this one's. */
export const describeRecordings = (
  agent: AgentProvider,
  name: RecordedAgent,
  golden: Readonly<Record<string, Golden>>,
  { tellsCacheCreation = false } = {},
): void => {
  const cases = recordedCases(name);
  const lines = kindsOf(cases.flatMap((each) => recording(name, each).lines));
  const mutations = lines.flatMap((line) => mutationsOf(JSON.parse(line)));
  const parser = (): AgentOutputParser => agent.createParser({ prompt: "", iteration: 1 });

  describe("what is told of a recorded run", () => {
    it("is known for every one of them", () => {
      expect(Object.keys(golden).sort()).toEqual([...cases].sort());
    });

    it.each(Object.entries(golden))("is all there was: %s", (each, { answers, ...expected }) => {
      const recorded = recording(name, each);
      const nothing = { text: "", calls: [], results: [], sessions: [], problem: undefined, errors: [] };
      const usage = usageInScript(recorded, {
        tellsCacheCreation,
        ...(answers !== undefined && { answers }),
      });
      expect(told(replay(agent, recorded))).toEqual({ ...nothing, usage, ...expected });
    });

    it.each(cases)("leaves no line of stdout that is not understood: %s", (each) => {
      const raw = eventsOfType(replay(agent, recording(name, each)), "raw").filter(
        ({ stream }) => stream === "stdout",
      );
      expect(raw).toEqual([]);
    });

    it.each(cases)("loses no line of stderr: %s", (each) => {
      const parse = parser();
      expect(recording(name, each).stderr.filter((line) => parse(line, "stderr").length === 0)).toEqual([]);
    });

    it.each(cases)("names with each result of a tool the call that came before it: %s", (each) => {
      const open = new Set<string>();
      for (const event of replay(agent, recording(name, each))) {
        if (event.type === "toolCall") open.add(event.id ?? "no id");
        if (event.type === "toolResult") expect(open).toContain(event.id);
      }
    });

    it.each(["unicode", "commit"])("does not depend on the pieces in which stdout arrives: %s", (each) => {
      const { stdout, lines } = recording(name, each);
      const arrived: string[] = [];
      const splitter = new LineSplitter((line) => arrived.push(line));
      for (let start = 0; start < stdout.length; start += 7) splitter.push(stdout.subarray(start, start + 7));
      splitter.end();
      expect(told(replay(agent, { lines: arrived, stderr: [] }))).toEqual(
        told(replay(agent, { lines, stderr: [] })),
      );
      expect(arrived).toHaveLength(lines.length);
    });

    it.each(cases)("holds the completion signal only if the agent has said it: %s", (each) => {
      expect(hasSignal(replay(agent, recording(name, each)))).toBe(
        golden[each]?.text?.includes(DEFAULT_COMPLETION_SIGNAL) ?? false,
      );
    });
  });

  describe("a line that is broken", () => {
    it("is kept as it is, wherever it was cut off", () => {
      const parse = parser();
      const misread: string[] = [];
      for (const line of lines) {
        for (let end = 0; end < line.length; end++) {
          const prefix = line.slice(0, end);
          if (!isRaw(parse(prefix, "stdout"), prefix)) misread.push(prefix);
        }
      }
      expect(misread).toEqual([]);
    });

    it.each(GARBAGE)("is kept as it is: %.40j", (line) => {
      expect(parser()(line, "stdout")).toEqual([{ type: "raw", line, stream: "stdout" }]);
    });

    it("is kept as it is when two lines have become one", () => {
      const [first = "", second = ""] = lines;
      expect(isRaw(parser()(first + second, "stdout"), first + second)).toBe(true);
    });

    it("never makes the parser throw, nor tell other things than words, when values have another type", () => {
      const wrong = mutations
        .flatMap((mutation) => parser()(JSON.stringify(mutation), "stdout"))
        .filter(
          (event) =>
            (event.type === "text" && typeof event.text !== "string") ||
            (event.type === "toolCall" && typeof event.name !== "string") ||
            (event.type === "toolResult" && typeof event.output !== "string") ||
            (event.type === "sessionId" && typeof event.sessionId !== "string"),
        );
      expect(wrong).toEqual([]);
    });

    it("never makes the agent use less than no tokens", () => {
      const wrong = mutations
        .flatMap((mutation) => eventsOfType(parser()(JSON.stringify(mutation), "stdout"), "usage"))
        .filter(
          ({ usage }) => !Object.values(usage).every((tokens) => Number.isFinite(tokens) && tokens >= 0),
        );
      expect(wrong).toEqual([]);
    });
  });

  it("an event of a type that nobody knows is kept as it is", () => {
    const line = JSON.stringify({ type: "brand_new", sessionID: undefined, text: DEFAULT_COMPLETION_SIGNAL });
    expect(parser()(line, "stdout")).toEqual([{ type: "raw", line, stream: "stdout" }]);
  });
};
