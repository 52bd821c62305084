import { describe, expect, it } from "vitest";
import { copilot } from "../../../src/agents/copilot/provider.ts";
import { eventsOfType, read, replay, told } from "../../helpers/agents/agentEvents.ts";
import { describeRecordings, type Golden } from "../../helpers/agents/describeRecordings.ts";
import { recording } from "../../helpers/agents/recordings.ts";

const agent = copilot("gpt-5.4");
const SIGNAL = "<promise>COMPLETE</promise>";
/** It does not tell what it uses. */
const usage = undefined;
const HELLO = { text: `Hello! ${SIGNAL}\n`, verdict: "ok", usage } as const;
const COMMITTED = "472ba2ad-bb14-42e7-be82-06820f99c111";
const WRITE = "cat > '/workspace/repo/hello.txt' <<'__EOF__'\nhello from the agent\n\n__EOF__";
const COMMIT = "git add -A && git commit -qm 'Add hello.txt' && git log --oneline | head -1";
const GAVE_UP = (seconds: string, last: string) =>
  `Failed to get response from the AI model; retried 5 times (total retry wait time: ${seconds} seconds) Last error: ${last}`;
const BROKEN =
  "Failed native model HTTP request: error sending request for url (http://127.0.0.1:8080/v1/chat/completions): client error (SendRequest): connection closed before message completed";
const NO_ACCESS = `Authentication failed with provider at http://127.0.0.1:8080/v1 (HTTP 401).
  Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.`;

const ran = (command: string): [string, unknown] => ["bash", { command, description: "scripted" }];

const failed = (sessions: readonly string[], problem: string, kind: string, attempts: number): Golden => ({
  sessions,
  usage,
  verdict: "error",
  problem,
  errors: [...Array.from({ length: attempts }, () => `${kind}*`), kind],
});

/** It would have told its session at its end. */
const interrupted: Golden = {
  text: "Sleeping.\n",
  calls: [ran("echo start; sleep 100; echo end")],
  usage,
  verdict: "none",
};

const GOLDEN: Readonly<Record<string, Golden>> = {
  text: { ...HELLO, sessions: ["bd3e4dc6-a1c2-47b7-bcbd-3e862e671c14"] },
  commit: {
    text: `I will create the file.\nDone.\n\n${SIGNAL}\n`,
    calls: [ran(WRITE), ran(COMMIT)],
    results: [
      ["\n<shellId: 0 completed with exit code 0>", false],
      ["21126c4 Add hello.txt\n<shellId: 1 completed with exit code 0>", false],
    ],
    sessions: [COMMITTED],
    usage,
    verdict: "ok",
  },
  resume: { ...HELLO, sessions: [COMMITTED] },
  continue: { ...HELLO, sessions: [COMMITTED] },
  "resume-missing": { verdict: "none", usage, errors: ["other"] },
  thinking: { ...HELLO, sessions: ["3f3a0d9b-b6fb-40a5-9dc8-e5be90d60a08"] },
  "tool-error": {
    ...HELLO,
    calls: [ran("echo out; echo err >&2; exit 3")],
    results: [["out\nerr\n<shellId: 0 completed with exit code 3>", true]],
    sessions: ["14816f59-8104-46e2-884b-390f7a9bbeb9"],
  },
  "signal-only-in-prompt": {
    text: "I am not done yet.\n",
    sessions: ["8b198021-9cf2-4a2f-9a52-e7a469df43e3"],
    usage,
    verdict: "ok",
  },
  unicode: {
    text: `sep:\u2028:\u2029:\u0085: emoji 😀 "quoted" \\back ${SIGNAL}\n`,
    sessions: ["d7ae943e-9770-4d5e-9a10-1583c089701f"],
    usage,
    verdict: "ok",
  },
  "error-400": failed(["09979cb3-006c-4096-a8ce-e968289d6ed5"], "400 bad request", "other", 1),
  "error-401": failed(["fb1fb00a-65ad-42f7-b73b-5c0f6c8a0749"], NO_ACCESS, "authentication", 3),
  "error-429": failed([], "Rate limit reached", "rateLimit", 3),
  "error-429-then-ok": {
    ...HELLO,
    sessions: ["3a3657b7-8a85-4d90-8294-996868bc714a"],
    errors: ["rateLimit*", "rateLimit*"],
  },
  "error-500": failed(
    ["43bea615-0b06-4fba-ba67-f3c40359ee3f"],
    GAVE_UP("15.39", "500 Internal server error"),
    "overloaded",
    6,
  ),
  "stream-cut": failed(["b22572f7-9e69-44a7-9f99-0d3ce1238746"], GAVE_UP("5.00", BROKEN), "overloaded", 6),
  "sigterm-in-tool": interrupted,
  "sigint-in-tool": interrupted,
};

describeRecordings(agent, "copilot", GOLDEN);

const message = (content: string, more: object = {}) => ({
  type: "assistant.message",
  data: { content, ...more },
});
const limited = {
  type: "model.call_failure",
  data: { statusCode: 429, errorMessage: '{"message":"slow down"}' },
};
const failure = (data: object) =>
  told(read(agent, { type: "session.error", data }, { type: "result", exitCode: 1 }));

describe("a rate limit of Copilot CLI's model", () => {
  it("stops the agent after four refused requests in a row, instead of waiting with it", () => {
    const { lines } = recording("copilot", "error-429");
    expect(eventsOfType(replay(agent, { lines, stderr: [] }), "result")).toEqual([
      { type: "result", isError: true, message: "Rate limit reached", mustBeStopped: true },
    ]);
  });

  it("does not stop an agent that recovers each time", () => {
    const events = read(agent, limited, limited, limited, message("Well."), limited, limited, limited);
    expect(eventsOfType(events, "result")).toEqual([]);
  });
});

describe("the last error of Copilot CLI", () => {
  it.each([
    [{ errorType: "rate_limit", message: "slow", statusCode: 429 }, "rateLimit"],
    [{ errorType: "authentication", message: "who", statusCode: 403 }, "authentication"],
    [{ errorType: "query", message: "503 overloaded", statusCode: 503 }, "overloaded"],
    [
      {
        errorType: "query",
        message: "The provider rejected the prompt as too long, but automatic recovery could not reduce it.",
      },
      "contextLength",
    ],
    [{ errorType: "query", message: "400 bad request", statusCode: 400 }, "other"],
  ])("is reported with its kind: %j", (data, kind) => {
    expect(failure(data)).toMatchObject({ errors: [kind], problem: data.message, verdict: "error" });
  });

  it("is its exit code, if it has said nothing", () => {
    expect(told(read(agent, { type: "result", exitCode: 3 })).problem).toBe("it ended with exit code 3");
  });

  it("is on stderr if it cannot start", () => {
    const stderr = ["Error: No authentication information found.", "", "Copilot can be authenticated with"];
    expect(told(replay(agent, { lines: [], stderr })).errors).toEqual(["authentication"]);
  });
});

it("reports the id of the session as soon as it has one, and only once", () => {
  const events = read(
    agent,
    { type: "sanddune.session", sessionId: "s-1" },
    { type: "result", sessionId: "s-1", exitCode: 0 },
  );
  expect(eventsOfType(events, "sessionId")).toEqual([{ type: "sessionId", sessionId: "s-1" }]);
  expect(read(agent, { type: "sanddune.session", sessionId: "" })).toEqual([]);
});

it("does not take a subagent's words for the agent's", () => {
  expect(told(read(agent, message("Not me.", { parentToolCallId: "1" }), message("Me."))).text).toBe("Me.\n");
});

it("reports a tool's error as the output of the tool", () => {
  const data = { toolCallId: "1", success: false, error: { message: "no such file" } };
  expect(told(read(agent, { type: "tool.execution_complete", data })).results).toEqual([
    ["no such file", true],
  ]);
});
