import { describe, expect, it } from "vitest";
import { claudeCodeParser } from "../../../src/agents/claudeCode/output.ts";
import { codexParser } from "../../../src/agents/codex/output.ts";
import type { AgentEvent, AgentOutputParser } from "../../../src/agents/contract.ts";
import { copilotParser } from "../../../src/agents/copilot/output.ts";
import { geminiParser } from "../../../src/agents/gemini/output.ts";
import { opencodeParser } from "../../../src/agents/opencode/output.ts";
import { piParser } from "../../../src/agents/pi/output.ts";
import { ActionReader } from "../../../src/trajectory/record/actions.ts";
import { type RecordedAgent, recordedCases, recording } from "../../helpers/agents/recordings.ts";

const read = (events: readonly AgentEvent[]) => {
  const reader = new ActionReader();
  const over = events.flatMap((event) => reader.push({ iteration: 1, timestamp: new Date(), ...event }));
  return { over, open: reader.end() };
};

const call = (input: string, id?: string): AgentEvent => ({
  type: "toolCall",
  name: "Bash",
  input: { command: input },
  ...(id !== undefined && { id }),
});
const result = (id?: string, isError = false): AgentEvent => ({
  type: "toolResult",
  output: "",
  ...(id !== undefined && { id }),
  ...(isError && { isError }),
});

describe("actions", () => {
  it("are over in the order of their results, however the calls were made", () => {
    const { over, open } = read([
      ...[call("a", "1"), call("b", "2"), call("c", "3")],
      ...[result("2"), result("1", true), result("unknown")],
    ]);
    expect(over).toEqual([
      { iteration: 1, tool: "Bash", input: "b" },
      { iteration: 1, tool: "Bash", input: "a", isError: true },
    ]);
    expect(open).toEqual([{ iteration: 1, tool: "Bash", input: "c", isUnfinished: true }]);
  });

  it("of agents that do not tell which result is whose are over with the next one", () => {
    expect(read([call("a"), result(), call("b"), call("c"), result()]).over).toMatchObject([
      { input: "a" },
      { input: "b" },
      { input: "c" },
    ]);
  });

  it("of agents that report no results end when the agent continues, or its turn ends", () => {
    const end: AgentEvent = { type: "result", isError: false };
    expect(read([call("a", "1"), { type: "turnStart" }, call("b", "2"), end])).toMatchObject({
      over: [{ input: "a" }, { input: "b" }],
      open: [],
    });
  });

  it("are described in one short line", () => {
    const [action] = read([call(`one\n  two ${"x".repeat(1000)}`), result()]).over;
    expect(action?.input).toMatch(/^one two x+…$/);
    expect(action?.input.length).toBeLessThanOrEqual(200);
  });

  it("do not fill the memory if they never end", () => {
    const { over, open } = read(Array.from({ length: 3000 }, (_, index) => call("x", String(index))));
    expect(over.length + open.length).toBe(3000);
    expect(open.length).toBeLessThanOrEqual(1000);
  });
});

const PARSERS: Record<RecordedAgent, () => AgentOutputParser> = {
  "claude-code": claudeCodeParser,
  codex: () => codexParser({}),
  copilot: copilotParser,
  gemini: geminiParser,
  opencode: opencodeParser,
  pi: piParser,
};

describe.each(Object.keys(PARSERS) as RecordedAgent[])("the actions of a real %s", (agent) => {
  const eventsIn = (name: string): AgentEvent[] => {
    const parse = PARSERS[agent]();
    return recording(agent, name).lines.flatMap((line) => parse(line, "stdout"));
  };

  it("are its tool calls, each of them once", () => {
    for (const name of recordedCases(agent)) {
      const events = eventsIn(name);
      const { over, open } = read(events);
      expect(over.length + open.length, name).toBe(events.filter(({ type }) => type === "toolCall").length);
    }
  });

  it("are over where it has made a commit", () => {
    const { over, open } = read(eventsIn("commit"));
    expect(open).toEqual([]);
    expect(over.map(({ input }) => input).join("\n")).toContain("git commit");
  });
});
