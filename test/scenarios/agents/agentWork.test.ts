import { expect, it } from "vitest";
import type { AgentEvent } from "../../../src/agents/contract.ts";
import { AgentWork } from "../../../src/scenarios/agents/agentWork.ts";

const workOf = (...events: readonly AgentEvent[]): AgentWork => {
  const work = new AgentWork();
  for (const event of events) work.push({ iteration: 1, timestamp: new Date(0), ...event });
  return work;
};

const call = (name: string, id?: string): AgentEvent => ({
  ...{ type: "toolCall", name, input: {} },
  ...(id !== undefined && { id }),
});
const result = (id?: string, isError = false): AgentEvent => ({
  ...{ type: "toolResult", output: "", isError },
  ...(id !== undefined && { id }),
});

it("Tool calls are recorded as they end, with how they ended", () => {
  const work = workOf(call("read", "1"), call("write", "2"), result("2", true), result("1"));
  expect(work.record.tool_edits).toEqual([
    { name: "write", status: "error" },
    { name: "read", status: "completed" },
  ]);
});

it("A call that never ended is left out, as is a result that belongs to no call", () => {
  const work = workOf(call("read", "1"), result("7"), call("shell", "2"), result("2"), result("2"));
  expect(work.record.tool_edits).toEqual([{ name: "shell", status: "completed" }]);
});

it("Calls without an id end in their order", () => {
  const work = workOf(call("first"), call("second"), result(), result(undefined, true), result());
  expect(work.record.tool_edits).toEqual([
    { name: "first", status: "completed" },
    { name: "second", status: "error" },
  ]);
});

it("No more than 500 calls are recorded, each with a name of at most 100 characters", () => {
  const ids = Array.from({ length: 600 }, (_, index) => String(index));
  const work = workOf(...ids.flatMap((id) => [call("x".repeat(5000), id), result(id)]));
  expect(work.record.tool_edits).toHaveLength(500);
  expect(work.record.tool_edits[0]?.name).toHaveLength(100);
});

it("The end of a long text is kept", () => {
  const work = workOf({ type: "text", text: "a".repeat(100_000) }, { type: "text", text: "the end" });
  expect(work.text).toHaveLength(64 * 1024);
  expect(work.text.endsWith("athe end")).toBe(true);
});

it("Usage is added up, and left out if the agent reports none", () => {
  const usage = { inputTokens: 1, cacheCreationInputTokens: 2, cacheReadInputTokens: 3, outputTokens: 4 };
  expect(workOf({ type: "usage", usage }, { type: "usage", usage }).record.usage).toEqual({
    inputTokens: 2,
    cacheCreationInputTokens: 4,
    cacheReadInputTokens: 6,
    outputTokens: 8,
  });
  expect(workOf().record).toEqual({ tool_edits: [] });
});
