import { describe, expect, it } from "vitest";
import { cursor } from "../../../src/agents/cursor/provider.ts";
import { eventsOfType, read, replay, told } from "../../helpers/agents/agentEvents.ts";

const agent = cursor("composer-2");
const SIGNAL = "<promise>COMPLETE</promise>";

/**
 * Written by hand in the shapes that Cursor documents: its CLI is not on npm, and a whole run of its SDK needs Cursor's
 * own servers.
 */
const session = { session_id: "c-1" };
const CLI_RUN: readonly object[] = [
  {
    type: "system",
    subtype: "init",
    apiKeySource: "env",
    cwd: "/repo",
    model: "Composer",
    permissionMode: "default",
    ...session,
  },
  { type: "user", message: { role: "user", content: [{ type: "text", text: SIGNAL }] }, ...session },
  { type: "thinking", subtype: "delta", text: "Hm", ...session },
  {
    type: "assistant",
    message: { role: "assistant", content: [{ type: "text", text: "On it." }] },
    ...session,
  },
  {
    type: "tool_call",
    subtype: "started",
    call_id: "1",
    tool_call: { writeToolCall: { args: { path: "a.txt", fileText: "A" } } },
    ...session,
  },
  {
    type: "tool_call",
    subtype: "completed",
    call_id: "1",
    tool_call: {
      writeToolCall: {
        args: { path: "a.txt", fileText: "A" },
        result: { success: { path: "a.txt", linesCreated: 1 } },
      },
    },
    ...session,
  },
  {
    type: "tool_call",
    subtype: "started",
    call_id: "2",
    tool_call: { function: { name: "grep", arguments: '{"pattern":"x"}' } },
    ...session,
  },
  {
    type: "tool_call",
    subtype: "completed",
    call_id: "2",
    tool_call: {
      function: { name: "grep", arguments: '{"pattern":"x"}', result: { error: { message: "no" } } },
    },
    ...session,
  },
  {
    type: "assistant",
    message: { role: "assistant", content: [{ type: "text", text: `Done. ${SIGNAL}` }] },
    ...session,
  },
  {
    type: "result",
    subtype: "success",
    is_error: false,
    duration_ms: 5,
    result: `On it.Done. ${SIGNAL}`,
    ...session,
  },
];

const ids = { agent_id: "agent-1", run_id: "run-1" };
const piece = (text: string) => ({
  type: "assistant",
  ...ids,
  message: { role: "assistant", content: [{ type: "text", text }] },
});
const call = (status: string, more: object) => ({
  type: "tool_call",
  ...ids,
  call_id: "1",
  name: "shell",
  status,
  ...more,
});
const tokens = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, totalTokens: 10 };
const SDK_RUN: readonly object[] = [
  { type: "system", subtype: "init", ...ids, model: { id: "composer-2" }, tools: ["shell"] },
  { type: "user", ...ids, message: { role: "user", content: [{ type: "text", text: SIGNAL }] } },
  { type: "status", ...ids, status: "RUNNING" },
  { type: "thinking", ...ids, text: "Hm" },
  piece("On "),
  piece("it."),
  call("running", { args: {} }),
  call("running", { args: { command: "ls" } }),
  call("completed", { args: { command: "ls" }, result: "a.txt" }),
  piece("Done. <promise>COMP"),
  piece("LETE</promise>"),
  { type: "usage", ...ids, usage: tokens },
  { type: "task", ...ids, text: "summary" },
  { type: "request", ...ids, request_id: "r" },
  { type: "sanddune.result", status: "finished", result: "Done.", usage: tokens },
];

describe("a run of Cursor's CLI", () => {
  it("is reported with its text, its tools, its session and its end", () => {
    expect(told(read(agent, ...CLI_RUN))).toEqual({
      text: `On it.\nDone. ${SIGNAL}\n`,
      calls: [
        ["write", { path: "a.txt", fileText: "A" }],
        ["grep", { pattern: "x" }],
      ],
      results: [
        ['{"path":"a.txt","linesCreated":1}', false],
        ['{"message":"no"}', true],
      ],
      usage: undefined,
      sessions: ["c-1"],
      verdict: "ok",
      problem: undefined,
      errors: [],
    });
  });

  it.each([
    ["Error: [unauthenticated] Please log in again", "authentication"],
    ["Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY", "authentication"],
    ["ConnectError: [resource_exhausted] You've hit your usage limit", "rateLimit"],
    ["ConnectError: [unavailable] the service is unavailable", "overloaded"],
  ])("fails with what it says on stderr: %s", (line, kind) => {
    expect(told(replay(agent, { lines: [], stderr: [line] })).errors).toEqual([kind]);
  });

  it("that ends with an error is a failure", () => {
    const events = read(agent, {
      type: "result",
      subtype: "error",
      is_error: true,
      result: "no",
      ...session,
    });
    expect(told(events)).toMatchObject({ verdict: "error", problem: "no" });
  });
});

describe("a run with Cursor's SDK", () => {
  it("is reported with its text, its tools, its usage, its session and its end", () => {
    expect(told(read(agent, ...SDK_RUN))).toEqual({
      text: `On it.\nDone. ${SIGNAL}\n`,
      calls: [["shell", { command: "ls" }]],
      results: [["a.txt", false]],
      usage: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 3, cacheCreationInputTokens: 4 },
      sessions: ["agent-1"],
      verdict: "ok",
      problem: undefined,
      errors: [],
    });
  });

  it("reports its usage at the end, if it has not before", () => {
    const events = read(agent, { type: "sanddune.result", status: "finished", usage: tokens });
    expect(told(events).usage?.outputTokens).toBe(2);
  });

  it.each([
    [{ name: "AuthenticationError", message: "bad" }, "authentication"],
    [{ name: "RateLimitError", message: "slow" }, "rateLimit"],
    [{ name: "NetworkError", message: "gone" }, "overloaded"],
    [{ name: "ConfigurationError", message: "no such model", status: 404 }, "other"],
    [{ message: "the conversation is too long" }, "contextLength"],
  ])("that ends with an error is a failure of its kind: %j", (error, kind) => {
    const events = read(agent, { type: "sanddune.result", status: "error", error });
    expect(told(events)).toMatchObject({ verdict: "error", problem: error.message, errors: [kind] });
  });

  it.each([
    [{ name: "AuthenticationError", message: "bad" }, "authentication"],
    [{ name: "RateLimitError", message: "slow" }, "rateLimit"],
    [{ name: "NetworkError", message: "gone" }, "overloaded"],
    [{ name: "ConfigurationError", message: "no such model", status: 404 }, "unavailable"],
    [{ name: "IntegrationNotConnectedError", message: "connect it first" }, "unavailable"],
    [{ name: "Error", message: "Could not locate the bindings file" }, "unavailable"],
  ])("that did not start is unavailable, unless its error is of another kind: %j", (error, kind) => {
    const events = read(agent, { type: "sanddune.result", status: "unavailable", error });
    const problem = expect.stringContaining(error.message);
    expect(told(events)).toMatchObject({ verdict: "error", problem, errors: [kind] });
  });

  it.each([
    "the API key handling is broken",
    "expected 200, got 500",
    "rate limit test failed",
    "credit balance",
  ])("that ends with an error is not an error of the model because of its words: %s", (message) => {
    const events = read(agent, { type: "sanddune.result", status: "error", error: { message } });
    expect(told(events)).toMatchObject({ verdict: "error", problem: message, errors: ["other"] });
  });

  it("that did not start reports class, code, status and whether the error is retryable", () => {
    const error = { name: "RateLimitError", message: "slow", code: "busy", status: 429, isRetryable: true };
    const events = read(agent, { type: "sanddune.result", status: "unavailable", error });
    expect(told(events).problem).toBe("RateLimitError: slow (code busy, status 429, retryable)");
  });

  it("that was cancelled is a failure", () => {
    const events = read(agent, { type: "sanddune.result", status: "cancelled" });
    expect(told(events)).toMatchObject({ verdict: "error", problem: "the run was cancelled" });
  });
});

describe.each([
  ["CLI", CLI_RUN],
  ["SDK", SDK_RUN],
])("a line of Cursor's %s", (_, run) => {
  const lines = run.map((message) => JSON.stringify(message));

  it("is always understood", () => {
    expect(eventsOfType(read(agent, ...run), "raw")).toEqual([]);
  });

  it("is kept as it is, wherever it was cut off", () => {
    const parse = agent.createParser({ prompt: "", iteration: 1 });
    for (const line of lines) {
      for (let end = 0; end < line.length; end++) {
        const prefix = line.slice(0, end);
        expect(parse(prefix, "stdout")).toEqual([{ type: "raw", line: prefix, stream: "stdout" }]);
      }
    }
  });

  it.each([null, 7, [], "x", { success: null }])("never makes the parser throw: %j", (wrong) => {
    for (const message of run) {
      for (const key of Object.keys(message)) {
        expect(() => read(agent, { ...message, [key]: wrong })).not.toThrow();
      }
    }
  });
});

it("an event of an unknown type is kept as it is", () => {
  const line = JSON.stringify({ type: "brand_new", text: SIGNAL });
  expect(replay(agent, { lines: [line], stderr: [] })).toEqual([{ type: "raw", line, stream: "stdout" }]);
});
