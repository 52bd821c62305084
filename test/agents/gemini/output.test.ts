import { describe, expect, it } from "vitest";
import { gemini } from "../../../src/agents/gemini/provider.ts";
import { eventsOfType, read, replay, told } from "../../helpers/agents/agentEvents.ts";
import { describeRecordings, type Golden } from "../../helpers/agents/describeRecordings.ts";

const agent = gemini("gemini-2.5-pro");
const SIGNAL = "<promise>COMPLETE</promise>";
const HELLO = { text: `Hello! ${SIGNAL}\n`, verdict: "ok" } as const;
const COMMITTED = "2ef73e2d-b7e7-4e50-9198-c063550a6703";
const COMMIT = "git add -A && git commit -qm 'Add hello.txt' && git log --oneline | head -1";

const failed = (session: string, problem: string, kind: string): Golden => ({
  sessions: [session],
  verdict: "error",
  problem,
  errors: [kind],
  answers: 0,
});

/** Killed while it was still trying. What it had logged was recorded up to the second attempt. */
const retrying = (session: string, errors: readonly string[]): Golden => ({
  sessions: [session],
  usage: undefined,
  verdict: "none",
  errors,
});

const interrupted = (session: string): Golden => ({
  text: "Sleeping.\n",
  calls: [["run_shell_command", { command: "echo start; sleep 100; echo end" }]],
  sessions: [session],
  usage: undefined,
  verdict: "none",
});

const GOLDEN: Readonly<Record<string, Golden>> = {
  text: { ...HELLO, sessions: ["6d42f0e4-c48b-4ccc-89cf-cd4404847b6b"] },
  commit: {
    text: `I will create the file.\nDone.\n\n${SIGNAL}\n`,
    calls: [
      ["write_file", { file_path: "/workspace/repo/hello.txt", content: "hello from the agent\n" }],
      ["run_shell_command", { command: COMMIT }],
    ],
    results: [
      ["", false],
      ["6cd3ffd Add hello.txt", false],
    ],
    sessions: [COMMITTED],
    verdict: "ok",
  },
  resume: { ...HELLO, sessions: [COMMITTED] },
  continue: { ...HELLO, sessions: [COMMITTED] },
  "resume-missing": { verdict: "none", usage: undefined, errors: ["other"] },
  thinking: { ...HELLO, sessions: ["b1b79d94-07ce-4cfd-8ed4-856da2d2907e"] },
  "tool-error": {
    ...HELLO,
    calls: [["run_shell_command", { command: "echo out; echo err >&2; exit 3" }]],
    results: [["out\nerr", false]],
    sessions: ["3df2c2d2-2642-4ad4-8ff4-ad31c978b747"],
  },
  "signal-only-in-prompt": {
    text: "I am not done yet.\n",
    sessions: ["cf0f7425-1fd4-41b9-9097-52b133555172"],
    verdict: "ok",
  },
  // It cannot read such an answer.
  unicode: failed("5b7a78d5-2d7f-4a15-a944-824b41b20b46", "Incomplete JSON segment at the end", "other"),
  "error-400": failed("9fce4f18-5ed0-475e-a447-bb9304c39dc8", "bad request", "other"),
  "error-401": failed("38b5c420-b3d7-4e3a-8fd7-f786bbced3e3", "invalid api key", "authentication"),
  "error-429": retrying("27261db6-7ceb-4b8e-a77d-da6961e75b10", ["rateLimit*"]),
  "error-429-then-ok": {
    ...HELLO,
    sessions: ["cd33101d-79e1-49b6-a870-41e04025c530"],
    errors: ["rateLimit*", "rateLimit*"],
  },
  "error-500": retrying("fb086c3f-767b-4b74-ad10-4f075a78fbad", ["overloaded*", "overloaded*"]),
  "stream-cut": retrying("e8f0dc17-ae3a-42e4-89a1-13e9c73a1bc5", ["unreachable*", "other*"]),
  "sigterm-in-tool": interrupted("f208ff9e-f27e-4c78-be71-7745acf5d04d"),
  "sigint-in-tool": interrupted("79e2130a-3120-46a7-ac22-14ff4b2205d9"),
};

describeRecordings(agent, "gemini", GOLDEN);

const logged = (...stderr: string[]) => replay(agent, { lines: [], stderr });
const result = (message: string) =>
  told(read(agent, { type: "result", status: "error", error: { type: "unknown", message }, stats: {} }));

describe("the log of Gemini CLI", () => {
  const attempt = (number: number) =>
    `Attempt ${number} failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429,"message":"Rate limit reached","status":"RESOURCE_EXHAUSTED"}}`;

  it("is final after four attempts: the agent is stopped", () => {
    const events = logged(...[1, 2, 3, 4].map(attempt));
    expect(told(events)).toMatchObject({
      errors: ["rateLimit*", "rateLimit*", "rateLimit*", "rateLimit"],
      problem: "Rate limit reached",
    });
    expect(eventsOfType(events, "result")).toEqual([
      { type: "result", isError: true, message: "Rate limit reached", mustBeStopped: true },
    ]);
  });

  it("does not stop an agent that starts to count again", () => {
    expect(eventsOfType(logged(...[1, 2, 3, 1, 2, 3].map(attempt)), "result")).toEqual([]);
  });

  it.each([
    ["Attempt 1 failed: You exceeded your current quota", "rateLimit*"],
    ["Attempt 1 failed with 429 error (no Retry-After header). Retrying with backoff... x", "rateLimit*"],
    ["Attempt 2 failed with 5xx error. Retrying with backoff... Error: 503", "overloaded*"],
    ["When using Gemini API, you must specify the GEMINI_API_KEY environment variable.", "authentication"],
    ["Please set an Auth method in your settings.json", "authentication"],
  ])("reports an error: %s", (line, kind) => {
    expect(told(logged(line)).errors).toEqual([kind]);
  });

  it.each([
    "YOLO mode is enabled. All tool calls will be automatically approved.",
    "[STARTUP] Phase 'cleanup_ops' was started but never ended. Skipping metrics.",
    "    at async Turn.run (file:///usr/local/lib/chunk.js:1:24) {",
  ])("keeps lines that mean nothing: %s", (line) => {
    expect(logged(line)).toEqual([{ type: "raw", line, stream: "stderr" }]);
  });
});

describe("the last error of Gemini CLI", () => {
  it.each([
    ['[API Error: {"error":{"code":401,"message":"bad key"}}]', "authentication", "bad key"],
    ['[API Error: {"error":{"code":403,"message":"forbidden"}}]', "authentication", "forbidden"],
    [
      '[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","details":[{"reason":"API_KEY_INVALID"}]}}]',
      "authentication",
      "API key not valid. Please pass a valid API key.",
    ],
    [
      '[API Error: {"error":{"code":400,"message":"The input token count (1100000) exceeds the maximum number of tokens allowed (1048576)."}}]',
      "contextLength",
      "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
    ],
    ["[API Error: overloaded]", "overloaded", "overloaded"],
    [
      "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.",
      "rateLimit",
      "You have exhausted your daily quota on this model.",
    ],
  ])("is reported with its kind, in its own words: %s", (message, kind, problem) => {
    expect(result(message)).toMatchObject({ errors: [kind], problem, verdict: "error" });
  });

  it("has the kind that its words had when they came with a status", () => {
    const parse = agent.createParser({ prompt: "", iteration: 1 });
    const error = { message: "[API Error: slow down]", type: "unknown" };
    const events = [
      ...parse(
        'Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"message":"slow down","code":429}}',
        "stderr",
      ),
      ...parse(JSON.stringify({ type: "result", status: "error", error, stats: {} }), "stdout"),
    ];
    expect(told(events)).toMatchObject({ errors: ["rateLimit*", "rateLimit"], problem: "slow down" });
  });

  it("says when a rate limit ends, if it knows", () => {
    const before = Date.now();
    const [event] = eventsOfType(
      read(agent, {
        type: "result",
        status: "error",
        error: { message: "[API Error: You exceeded your current quota. Please retry in 90s.]" },
      }),
      "error",
    );
    expect(event?.retryAt?.getTime()).toBeGreaterThanOrEqual(before + 90_000);
  });

  it("is what went wrong before, if it says nothing itself", () => {
    const events = read(
      agent,
      { type: "error", severity: "error", message: "The model's answer was empty" },
      { type: "result", status: "error", stats: {} },
    );
    expect(told(events)).toMatchObject({ verdict: "error", problem: "The model's answer was empty" });
  });
});

it("counts the model's thoughts as output", () => {
  const stats = { total_tokens: 150, input_tokens: 100, cached: 40, output_tokens: 20 };
  expect(told(read(agent, { type: "result", status: "success", stats })).usage).toEqual({
    inputTokens: 60,
    cacheCreationInputTokens: 0,
    cacheReadInputTokens: 40,
    outputTokens: 50,
  });
});

it("reports a tool's error as the output of the tool", () => {
  const events = read(agent, {
    type: "tool_result",
    tool_id: "1",
    status: "error",
    error: { type: "x", message: "File not found" },
  });
  expect(told(events).results).toEqual([["File not found", true]]);
});
