import { describe, expect, it } from "vitest";
import { claudeCode } from "../../../src/agents/claudeCode/provider.ts";
import { eventsOfType, read, told } from "../../helpers/agents/agentEvents.ts";

const agent = claudeCode("claude-opus-4-8");
const SIGNAL = "<promise>COMPLETE</promise>";

const usage = (input: number, output: number) => ({ input_tokens: input, output_tokens: output });
const assistant = (id: string, content: object, rest: object = {}) => ({
  type: "assistant",
  message: { id, content: [content], usage: usage(100, 1) },
  parent_tool_use_id: null,
  ...rest,
});
const result = (rest: object) => ({ type: "result", subtype: "success", is_error: false, ...rest });

describe("what Claude Code says", () => {
  it.each([
    ["a subagent", assistant("m", { type: "text", text: SIGNAL }, { parent_tool_use_id: "toolu_1" })],
    ["its reasoning", assistant("m", { type: "thinking", thinking: SIGNAL, signature: "x" })],
    ["the prompt of a subagent", { type: "user", message: { content: [{ type: "text", text: SIGNAL }] } }],
    ["a message of the person's", { type: "user", message: { content: SIGNAL } }],
    ["the summary of the turn", result({ result: SIGNAL })],
    ["a piece of a message that comes whole", { type: "stream_event", event: { delta: { text: SIGNAL } } }],
  ])("does not hold the words of %s", (_, line) => {
    expect(told(read(agent, line)).text).toBe("");
  });

  it("does not include the text that it makes up for an error of the model", () => {
    const line = assistant(
      "m",
      { type: "text", text: `API Error: ${SIGNAL}` },
      { is_api_error_message: true },
    );
    expect(told(read(agent, line))).toMatchObject({ text: "", errors: ["other"] });
  });
});

describe("what Claude Code has used", () => {
  const usages = (...lines: object[]) =>
    eventsOfType(read(agent, ...lines), "usage").map((event) => event.usage);
  const models = (inputTokens: number, outputTokens: number) => ({
    model_usage_since_last_result: {
      one: { inputTokens, outputTokens },
      two: { inputTokens: 5, outputTokens: 5 },
    },
  });

  it("is reported once for a message of several blocks", () => {
    const block = { type: "text", text: "a" };
    expect(usages(assistant("m", block), assistant("m", block))).toHaveLength(1);
  });

  it("is of all models together, subagents included", () => {
    expect(told(read(agent, result({ ...models(1000, 50), usage: usage(7, 7) }))).usage).toMatchObject({
      inputTokens: 1005,
      outputTokens: 55,
    });
  });

  it("is that of the turn where a version reports no more", () => {
    expect(told(read(agent, result({ usage: usage(70, 7) }))).usage).toMatchObject({
      inputTokens: 70,
      outputTokens: 7,
    });
  });

  it("is not reported twice, by its messages and by the result", () => {
    const lines = [assistant("m", { type: "text", text: "a" }), result(models(200, 30))];
    expect(told(read(agent, ...lines)).usage).toMatchObject({ inputTokens: 205, outputTokens: 35 });
  });

  it("is added up over several results", () => {
    const lines = [
      result(models(200, 30)),
      assistant("n", { type: "text", text: "a" }),
      result(models(100, 3)),
    ];
    expect(told(read(agent, ...lines)).usage).toMatchObject({ inputTokens: 310, outputTokens: 43 });
  });
});

describe("a rate limit of Claude Code's", () => {
  const limit = (info: object) => ({ type: "rate_limit_event", rate_limit_info: info });
  const WORDS = "You've hit your 5-hour limit · resets 8:44am (UTC)";
  const synthetic = assistant(
    "m",
    { type: "text", text: WORDS },
    { is_api_error_message: true, api_error_status: 429, error: "rate_limit" },
  );
  const told429 = (...lines: object[]) => eventsOfType(read(agent, ...lines, synthetic), "error").at(-1);

  it("ends when the agent says so", () => {
    expect(told429(limit({ status: "rejected", resetsAt: 1794818672 }))).toEqual({
      type: "error",
      kind: "rateLimit",
      message: WORDS,
      willRetry: false,
      retryAt: new Date(1794818672_000),
    });
  });

  // They name the minute in which it ends: that has to be over.
  it("ends when its message says so, if nothing else does", () => {
    const retryAt = told429(limit({ status: "rejected" }))?.retryAt;
    expect([retryAt?.getUTCHours(), retryAt?.getUTCMinutes()]).toEqual([8, 45]);
  });

  it.each([-1, 0, 1e300, "soon", null])("does not end at %j, but when its message says so", (resetsAt) => {
    const retryAt = told429(limit({ status: "rejected", resetsAt }))?.retryAt;
    expect([retryAt?.getUTCHours(), retryAt?.getUTCMinutes()]).toEqual([8, 45]);
  });

  it("does not end when another limit would, that is only near", () => {
    const near = limit({ status: "allowed_warning", resetsAt: 1794818672 });
    expect(told429(near)?.retryAt).not.toEqual(new Date(1794818672_000));
  });

  it("is not an error while it is only near", () => {
    const warned = limit({ status: "allowed_warning", resetsAt: 1794818672, utilization: 0.91 });
    expect(told(read(agent, warned, result({})))).toMatchObject({ errors: [], verdict: "ok" });
  });
});

describe("the kind of an error of Claude Code's", () => {
  const synthetic = (text: string, status: number, error: string) =>
    assistant("m", { type: "text", text }, { is_api_error_message: true, api_error_status: status, error });

  it.each([
    [
      "Prompt is too long · the request is ~210000 tokens (limit 200000)",
      400,
      "invalid_request",
      "contextLength",
    ],
    ["Request too large (max 32MB). Accumulated images", 413, "invalid_request", "contextLength"],
    ["Credit balance is too low", 400, "billing_error", "authentication"],
    ["API Error: 529 Overloaded.", 529, "server_error", "overloaded"],
    ["Failed to authenticate. API Error: 401 no", 401, "authentication_failed", "authentication"],
    ["Failed to authenticate: OAuth token revoked.", 403, "authentication_failed", "authentication"],
    ["There's an issue with the selected model (x).", 404, "model_not_found", "other"],
    [
      "API Error: Server is temporarily limiting requests (not your usage limit)",
      429,
      "rate_limit",
      "rateLimit",
    ],
  ])("%s (%d) is known", (text, status, error, kind) => {
    const lines = [synthetic(text, status, error), result({ is_error: true, result: text })];
    expect(told(read(agent, ...lines))).toMatchObject({
      text: "",
      errors: [kind],
      verdict: "error",
      problem: text,
    });
  });
});

describe("the verdict on a turn of Claude Code's", () => {
  it.each([
    [{ is_error: true, result: "words" }, "words"],
    [{ subtype: "error_during_execution", errors: ["one", "two"] }, "one\ntwo"],
    [{ subtype: "error_max_budget_usd" }, "its turn ended early: error_max_budget_usd"],
    [
      { subtype: "error_of_tomorrow", is_error: false, result: "" },
      "its turn ended early: error_of_tomorrow",
    ],
  ])("is an error with words: %j", (rest, problem) => {
    expect(told(read(agent, result(rest)))).toMatchObject({ verdict: "error", problem });
  });
});
