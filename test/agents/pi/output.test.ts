import { describe, expect, it } from "vitest";
import { pi } from "../../../src/agents/pi/provider.ts";
import { read, replay, told } from "../../helpers/agents/agentEvents.ts";
import { describeRecordings, type Golden } from "../../helpers/agents/describeRecordings.ts";
import { recording } from "../../helpers/agents/recordings.ts";

const agent = pi("scripted/scripted-model");
const SIGNAL = "<promise>COMPLETE</promise>";
const HELLO = { text: `Hello! ${SIGNAL}\n`, verdict: "ok" } as const;
const COMMITTED = "01a1e0cf-7fef-70fb-a3cd-202cf74b8fb9";
const COMMIT = "git add -A && git commit -qm 'Add hello.txt' && git log --oneline | head -1";
const SLEEP = { command: "echo start; sleep 100; echo end" };

const failed = (session: string, problem: string, errors: readonly string[]): Golden => ({
  sessions: [session],
  verdict: "error",
  problem,
  errors,
});

const body = (message: string, type: string, code: string | null = type): string =>
  JSON.stringify({ message, type, code, param: null });

const GOLDEN: Readonly<Record<string, Golden>> = {
  text: { ...HELLO, sessions: ["01a1e0cf-7cd8-7697-9849-8d3777ad0812"] },
  commit: {
    text: `I will create the file.\nDone.\n\n${SIGNAL}\n`,
    calls: [
      ["write", { path: "/workspace/repo/hello.txt", content: "hello from the agent\n" }],
      ["bash", { command: COMMIT }],
    ],
    results: [
      ["Successfully wrote to /workspace/repo/hello.txt", false],
      ["b23edf2 Add hello.txt\n", false],
    ],
    sessions: [COMMITTED],
    verdict: "ok",
  },
  resume: { ...HELLO, sessions: [COMMITTED] },
  continue: { ...HELLO, sessions: [COMMITTED] },
  fork: { ...HELLO, sessions: ["01a1e0cf-8ac3-74fa-9b05-a9f706d0fb7b"] },
  "resume-missing": { verdict: "none", usage: undefined },
  thinking: { ...HELLO, sessions: ["01a1e0cf-92c4-777e-9129-b945432e7a0c"] },
  "tool-error": {
    ...HELLO,
    calls: [["bash", { command: "echo out; echo err >&2; exit 3" }]],
    results: [["out\nerr\n\n\nCommand exited with code 3", true]],
    sessions: ["01a1e0cf-97bd-75e3-b98c-4c46c39ebaac"],
  },
  "signal-only-in-prompt": {
    text: "I am not done yet.\n",
    sessions: ["01a1e0cf-9b0d-748f-93a9-95e98b21e18c"],
    verdict: "ok",
  },
  unicode: {
    text: `sep:\u2028:\u2029:\u0085: emoji 😀 "quoted" \\back ${SIGNAL}\n`,
    sessions: ["01a1e0cf-9ed2-76bf-a9e2-a6fa44922516"],
    verdict: "ok",
  },
  "error-400": failed(
    "01a1e0d0-3114-7210-8e9d-01da226ab13c",
    `400: ${body("bad request", "invalid_request_error", null)}`,
    ["other"],
  ),
  "error-401": failed(
    "01a1e0cf-a1b4-7381-b867-227a36cbf460",
    `401: ${body("invalid api key", "invalid_request_error", "invalid_api_key")}`,
    ["authentication"],
  ),
  "error-429": failed(
    "01a1e0cf-bdf8-7371-8c7b-df37ab44d332",
    `429: ${body("Rate limit reached", "rate_limit_exceeded")}`,
    ["rateLimit*", "rateLimit*", "rateLimit*", "rateLimit"],
  ),
  "error-429-then-ok": {
    ...HELLO,
    sessions: ["01a1e0cf-a461-7069-b807-fb78089f9ab9"],
    errors: ["rateLimit*", "rateLimit*"],
  },
  "error-500": failed(
    "01a1e0cf-f6f5-7554-af13-65d709ed7449",
    `500: ${body("Internal server error", "server_error", null)}`,
    ["overloaded*", "overloaded*", "overloaded*", "overloaded"],
  ),
  "stream-cut": failed("01a1e0d0-33b2-723e-85fc-8e600cdbf5bb", "Connection error.", [
    "unreachable*",
    "unreachable*",
    "unreachable*",
    "unreachable",
  ]),
  "sigterm-in-tool": {
    text: "Sleeping.\n",
    calls: [["bash", SLEEP]],
    sessions: ["01a1e0d0-6d51-731e-9a74-eba0fd34f732"],
    answers: 1,
    verdict: "none",
  },
  "sigint-in-tool": {
    text: "Sleeping.\n",
    calls: [["bash", SLEEP]],
    sessions: ["01a1e0d0-8c3b-7685-9414-51c884dc27bb"],
    answers: 1,
    verdict: "none",
  },
  "no-auth": {
    sessions: ["01a1e0d0-a92e-771a-81e2-16d04ecf5c8c"],
    usage: undefined,
    verdict: "none",
    errors: ["authentication"],
  },
  "empty-stdin": {
    sessions: ["01a1e0d0-ab9a-703a-b0e5-d9a5dac87718"],
    usage: undefined,
    verdict: "none",
  },
};

describeRecordings(agent, "pi", GOLDEN);

const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
const message = (content: unknown, rest: object = {}) => ({
  type: "message_end",
  message: { role: "assistant", content, usage, stopReason: "stop", ...rest },
});
const delta = (text: string) => ({
  type: "message_update",
  assistantMessageEvent: { type: "text_delta", delta: text },
});

describe("what pi says", () => {
  it("comes in pieces while the model writes", () => {
    const texts = replay(agent, recording("pi", "text")).filter(({ type }) => type === "text");
    expect(texts.length).toBeGreaterThan(1);
  });

  it("is not reported again when the message is over", () => {
    const events = read(agent, delta("one "), delta("two"), message([{ type: "text", text: "one two" }]));
    expect(told(events).text).toBe("one two");
  });

  it("is reported at the end of a message that did not come in pieces", () => {
    const events = read(
      agent,
      message([{ type: "text", text: "one" }]),
      message([{ type: "text", text: "two" }]),
    );
    expect(told(events).text).toBe("one\ntwo\n");
  });

  it("does not hold its reasoning", () => {
    const thinking = { type: "thinking_delta", delta: SIGNAL };
    const events = read(
      agent,
      { type: "message_update", assistantMessageEvent: thinking },
      message([{ type: "thinking", thinking: SIGNAL }]),
    );
    expect(told(events).text).toBe("");
  });

  it.each(["user", "system", "toolResult"])("does not hold what the role %s says", (role) => {
    expect(read(agent, message([{ type: "text", text: SIGNAL }], { role }))).toEqual([]);
  });

  it("is split and joined over a line separator that is no line end", () => {
    expect(told(read(agent, delta("a\u2028b"), delta("\u2029c"))).text).toBe("a\u2028b\u2029c");
  });
});

describe("the verdict on a turn of pi's", () => {
  const settled = { type: "agent_settled" };
  const wrong = (stopReason: string, errorMessage?: string) => message([], { stopReason, errorMessage });

  it("is that of its last message: it has recovered from an error before", () => {
    const events = read(agent, wrong("error", "429: {}"), message([]), settled);
    expect(told(events)).toMatchObject({ verdict: "ok", errors: [] });
  });

  it("is an error when its last message is one", () => {
    const events = read(agent, message([]), wrong("error", "503: {}"), settled);
    expect(told(events)).toMatchObject({ verdict: "error", problem: "503: {}", errors: ["overloaded"] });
  });

  it("is an error when it was aborted, also without a word about it", () => {
    expect(told(read(agent, wrong("aborted"), settled))).toMatchObject({
      verdict: "error",
      problem: "aborted",
    });
  });

  it.each([
    ['413: {"message":"too large"}', "contextLength"],
    [
      '400: {"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}',
      "contextLength",
    ],
    [
      '400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
      "contextLength",
    ],
    ['529: {"message":"Overloaded","type":"overloaded_error"}', "overloaded"],
    ['403: {"message":"forbidden"}', "authentication"],
    [
      '429: {"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}',
      "authentication",
    ],
  ])("takes the kind of an error from the status before the answer: %s", (problem, kind) => {
    expect(told(read(agent, wrong("error", problem), settled)).errors).toEqual([kind]);
  });
});
