import { describe, expect, it } from "vitest";
import { opencode } from "../../../src/agents/opencode/provider.ts";
import { eventsOfType, read, replay, told } from "../../helpers/agents/agentEvents.ts";
import { describeRecordings, type Golden } from "../../helpers/agents/describeRecordings.ts";

const agent = opencode("scripted/scripted-model");
const SIGNAL = "<promise>COMPLETE</promise>";
const HELLO = { text: `Hello! ${SIGNAL}\n`, verdict: "ok" } as const;
const COMMITTED = "ses_e1f283db9ffejRaMn57OMzjedt";
const COMMIT = "git add -A && git commit -qm 'Add hello.txt' && git log --oneline | head -1";

/** Without its log it says nothing at all while it tries again. */
const SILENT: Golden = { verdict: "none", usage: undefined };

const GOLDEN: Readonly<Record<string, Golden>> = {
  text: { ...HELLO, sessions: ["ses_e1f284fabffe8oRGYMOBL2pux1"] },
  commit: {
    text: `I will create the file.\nDone.\n\n${SIGNAL}\n`,
    calls: [
      ["write", { filePath: "/workspace/repo/hello.txt", content: "hello from the agent\n" }],
      ["bash", { command: COMMIT }],
    ],
    results: [
      ["Wrote file successfully.", false],
      ["2213bc9 Add hello.txt\n", false],
    ],
    sessions: [COMMITTED],
    verdict: "ok",
  },
  resume: { ...HELLO, sessions: [COMMITTED] },
  continue: { ...HELLO, sessions: [COMMITTED] },
  fork: { ...HELLO, sessions: ["ses_e1f28095fffegVlRHXCJut1734"] },
  "resume-missing": { verdict: "none", usage: undefined },
  thinking: { ...HELLO, sessions: ["ses_e1f27f391ffewb8Y07dz60e5LT"] },
  "tool-error": {
    ...HELLO,
    calls: [["bash", { command: "echo out; echo err >&2; exit 3" }]],
    results: [["out\nerr\n", true]],
    sessions: ["ses_e1f27e49bffeDc8RaWUEG6AdhT"],
  },
  "signal-only-in-prompt": {
    text: "I am not done yet.\n",
    sessions: ["ses_e1f27d30effepvVRPZFxhZk8lJ"],
    verdict: "ok",
  },
  unicode: {
    text: `sep:\u2028:\u2029:\u0085: emoji 😀 "quoted" \\back ${SIGNAL}\n`,
    sessions: ["ses_e1f27c39affeh8ZSAD4fxvS0Br"],
    verdict: "ok",
  },
  "error-400": {
    sessions: ["ses_e1f26be9bffezgfWHD8VQGRm4g"],
    usage: undefined,
    verdict: "error",
    problem: "bad request",
    errors: ["other"],
  },
  "error-401": {
    sessions: ["ses_e1f27b31cffeReHAoi4pwcM7OF"],
    usage: undefined,
    verdict: "error",
    problem: "invalid api key",
    errors: ["authentication"],
  },
  "error-429": SILENT,
  "error-429-then-ok": { ...HELLO, sessions: ["ses_e1f279fe8ffeQxPVw6VTuHxwkb"] },
  "error-500": SILENT,
  "stream-cut": SILENT,
  // A call is told when it is over.
  "sigterm-in-tool": {
    text: "Sleeping.\n",
    sessions: ["ses_e1f264519ffeT1h3sQQdUxf4RM"],
    usage: undefined,
    verdict: "none",
  },
  "sigint-in-tool": {
    text: "Sleeping.\n",
    sessions: ["ses_e1f26044effes1EQxWcfc1HHAT"],
    usage: undefined,
    verdict: "none",
  },
  "permission-rejected": {
    calls: [["read", { filePath: "/etc/passwd" }]],
    results: [["The user rejected permission to use this specific tool call.", true]],
    sessions: ["ses_e1f25c2b2ffecTAni2GtDIJnKi"],
    answers: 1,
    verdict: "none",
  },
};

describeRecordings(agent, "opencode", GOLDEN);

const error = (name: string, data: object) => ({ type: "error", sessionID: "ses_1", error: { name, data } });
const text = (part: object) => ({ type: "text", sessionID: "ses_1", part });

describe("what opencode says", () => {
  it("does not include opencode's own prompt after it has compacted the context", () => {
    const events = read(
      agent,
      text({ text: SIGNAL, synthetic: true, metadata: { compaction_continue: true } }),
    );
    expect(told(events).text).toBe("");
  });

  it("does not hold its reasoning", () => {
    expect(told(read(agent, { type: "reasoning", part: { text: SIGNAL } })).text).toBe("");
  });
});

describe("what opencode has used", () => {
  it("counts reasoning, which is reported beside the output, as output", () => {
    const tokens = { input: 1, output: 2, reasoning: 30, cache: { read: 4, write: 5 } };
    const events = read(agent, { type: "step_finish", part: { reason: "stop", tokens } });
    expect(told(events).usage).toEqual({
      inputTokens: 1,
      cacheCreationInputTokens: 5,
      cacheReadInputTokens: 4,
      outputTokens: 32,
    });
  });
});

describe("an error of opencode's", () => {
  it.each([
    ["bad key", 401, "authentication"],
    ["forbidden", 403, "authentication"],
    ["slow", 429, "rateLimit"],
    ["unavailable", 503, "overloaded"],
    ["Overloaded", 529, "overloaded"],
    ["bad request", 400, "other"],
  ])("is reported in its own words, with the kind of its status: %s, %d", (message, statusCode, kind) => {
    expect(told(read(agent, error("APIError", { message, statusCode })))).toMatchObject({
      verdict: "error",
      problem: message,
      errors: [kind],
    });
  });

  it("says until when a rate limit holds, by the header of the answer", () => {
    const data = { message: "slow", statusCode: 429, responseHeaders: { "retry-after": "3600" } };
    const before = Date.now();
    const [{ retryAt } = { retryAt: undefined }] = eventsOfType(
      read(agent, error("APIError", data)),
      "error",
    );
    const seconds = ((retryAt?.getTime() ?? 0) - before) / 1000;
    expect(Math.round(seconds / 60)).toBe(60);
  });

  it.each(["later", "-5", "1e400", "NaN", "", "99999999999999999999", null, {}])(
    "says nothing of it when that header is %j",
    (header) => {
      const data = { message: "slow", statusCode: 429, responseHeaders: { "retry-after": header } };
      const [told] = eventsOfType(read(agent, error("APIError", data)), "error");
      expect(told).toMatchObject({ kind: "rateLimit" });
      expect(told).not.toHaveProperty("retryAt");
    },
  );

  it("is not a verdict when the context is full: it compacts the context and continues", () => {
    const overflow = error("ContextOverflowError", { message: "too large", responseBody: "{}" });
    expect(told(read(agent, overflow))).toMatchObject({ verdict: "none", errors: ["contextLength*"] });
  });

  it("is a verdict when the context stays full: it would never end", () => {
    const overflow = error("ContextOverflowError", { message: "too large" });
    const events = read(agent, overflow, text({ text: "summary" }), overflow, overflow);
    expect(eventsOfType(events, "result")).toEqual([
      { type: "result", isError: true, message: "too large", mustBeStopped: true },
    ]);
    expect(told(events).errors.at(-1)).toBe("contextLength");
  });

  it("has words in any case", () => {
    expect(told(read(agent, error("UnknownError", {}))).problem).toBe("UnknownError");
    expect(told(read(agent, { type: "error" })).problem).toMatch(/\w/);
  });
});

describe("the log of opencode", () => {
  const line = (rest: string) =>
    `timestamp=2026-11-16T07:18:47.565Z level=ERROR run=7cb972c8 message="stream error" providerID=scripted session.id=ses_1 ${rest}`;
  const logged = (...stderr: string[]) => replay(agent, { lines: [], stderr });
  const LIMITED = `small=false agent=build mode=primary error.error="AI_APICallError: Rate limit reached, slow"`;

  it("reports that it retries, and why", () => {
    expect(logged(line(LIMITED))).toEqual([
      {
        type: "error",
        kind: "rateLimit",
        message: "AI_APICallError: Rate limit reached, slow",
        willRetry: true,
      },
    ]);
  });

  it("reports the message of an error that contains quotes", () => {
    const events = logged(line(String.raw`small=false error.error="AI_APICallError: \"a\" \\ b"`));
    expect(eventsOfType(events, "error")[0]?.message).toBe(String.raw`AI_APICallError: "a" \ b`);
  });

  it("is ignored where only a title could not be made", () => {
    expect(
      told(logged(line(LIMITED.replace("small=false agent=build", "small=true agent=title")))).errors,
    ).toEqual([]);
  });

  it.each([
    "",
    "! permission requested: external_directory (/etc/*); auto-rejecting",
    "level=INFO message=stream error.error=x",
    "stream error",
  ])("is kept where it says something else: %j", (other) => {
    expect(logged(other)).toEqual([{ type: "raw", line: other, stream: "stderr" }]);
  });
});

describe("the end of a step of opencode's", () => {
  const tool = { type: "tool_use", part: { tool: "bash", state: { status: "completed", input: {} } } };
  const start = { type: "step_start", part: {} };
  const end = (reason: string) => ({ type: "step_finish", part: { reason } });

  it.each([
    ["it has called a tool, whatever it says", [start, tool, end("stop")]],
    ["it does not know why it ended", [start, end("unknown")]],
    ["it says that there are tools to call", [start, end("tool-calls")]],
  ])("is not the end of its turn if %s", (_, lines) => {
    expect(told(read(agent, ...lines)).verdict).toBe("none");
  });

  it("is the end of its turn otherwise, also after a step that has called a tool", () => {
    expect(told(read(agent, start, tool, end("tool-calls"), start, end("stop"))).verdict).toBe("ok");
  });
});
