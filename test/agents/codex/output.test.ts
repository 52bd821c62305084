import { describe, expect, it } from "vitest";
import { codex } from "../../../src/agents/codex/provider.ts";
import { eventsOfType, read, replay, told, usageInScript } from "../../helpers/agents/agentEvents.ts";
import { describeRecordings, type Golden } from "../../helpers/agents/describeRecordings.ts";
import { recording } from "../../helpers/agents/recordings.ts";

const agent = codex("gpt-5.5");
const SIGNAL = "<promise>COMPLETE</promise>";
const HELLO = { text: `Hello! ${SIGNAL}\n`, verdict: "ok" } as const;
const COMMITTED = "01a1e0ce-e687-7991-b76b-1317d5800822";
const WRITE = `/bin/bash -lc "cat > '/workspace/repo/hello.txt' <<'__EOF__'\nhello from the agent\n\n__EOF__"`;
const COMMIT = `/bin/bash -lc "git add -A && git commit -qm 'Add hello.txt' && git log --oneline | head -1"`;
const URL = "http://127.0.0.1:8080/v1/responses";

/** Codex counts from the beginning of the session. */
const inAll = (input: number, cached: number, output: number) => ({
  inputTokens: input,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: cached,
  outputTokens: output,
});

const failed = (session: string, problem: string, errors: readonly string[]): Golden => ({
  sessions: [session],
  verdict: "error",
  problem,
  errors,
  usage: undefined,
});

const ran = (command: string): [string, unknown] => ["command_execution", { command }];

const committed = (session: string, sha: string): Golden => ({
  text: `I will create the file.\nDone.\n\n${SIGNAL}\n`,
  calls: [ran(WRITE), ran(COMMIT)],
  results: [
    ["", false],
    [`${sha} Add hello.txt\n`, false],
  ],
  sessions: [session],
  verdict: "ok",
});

const interrupted = (session: string): Golden => ({
  text: "Sleeping.\n",
  calls: [ran("/bin/bash -lc 'echo start; sleep 100; echo end'")],
  sessions: [session],
  usage: undefined,
  verdict: "none",
});

const GOLDEN: Readonly<Record<string, Golden>> = {
  text: { ...HELLO, sessions: ["01a1e0ce-e464-7d32-a6eb-0cc2466663f9"] },
  commit: committed(COMMITTED, "0a6cbea"),
  resume: { ...HELLO, sessions: [COMMITTED], usage: inAll(700, 7000, 70) },
  continue: { ...HELLO, sessions: [COMMITTED], usage: inAll(800, 8000, 80) },
  fork: { ...HELLO, sessions: ["01a1e0ce-eb22-7650-9537-a27635536246"], usage: inAll(900, 9000, 90) },
  "resume-missing": { verdict: "none", usage: undefined, errors: ["other"] },
  thinking: { ...HELLO, sessions: ["01a1e0ce-edf7-7f41-96ce-6cb906e623da"] },
  "tool-error": {
    ...HELLO,
    calls: [ran("/bin/bash -lc 'echo out; echo err >&2; exit 3'")],
    results: [["out\nerr\n", true]],
    sessions: ["01a1e0ce-efb7-71b2-9be7-69159dc38042"],
  },
  "signal-only-in-prompt": {
    text: "I am not done yet.\n",
    sessions: ["01a1e0ce-f231-7c93-965c-0250c346c762"],
    verdict: "ok",
  },
  unicode: {
    text: `sep:\u2028:\u2029:\u0085: emoji 😀 "quoted" \\back ${SIGNAL}\n`,
    sessions: ["01a1e0ce-f3b7-7ef3-b9e9-3cd572024240"],
    verdict: "ok",
  },
  "error-400": failed("01a1e0cf-10a4-7410-8bf0-6688b264c150", "bad request", ["other"]),
  "error-401": failed(
    "01a1e0ce-f55f-7e51-afa3-34e57de6c56c",
    `unexpected status 401 Unauthorized: invalid api key, url: ${URL}`,
    ["authentication*", "authentication*", "authentication"],
  ),
  "error-429": failed(
    "01a1e0cf-03f7-7ea2-beeb-fa970dbdf4f8",
    "exceeded retry limit, last status: 429 Too Many Requests",
    ["rateLimit"],
  ),
  "error-429-then-ok": {
    ...HELLO,
    sessions: ["01a1e0ce-f98e-7e21-8a61-ae77719598eb"],
    errors: ["rateLimit*", "rateLimit*"],
  },
  "error-500": failed(
    "01a1e0cf-0590-78d3-9aed-5ab93d6d8b73",
    "We’re currently experiencing high demand, which may cause temporary errors.",
    ["overloaded*", "overloaded*", "overloaded"],
  ),
  "stream-cut": failed(
    "01a1e0cf-11f2-7a13-a127-def1d4879d4b",
    "stream disconnected before completion: error sending request",
    ["overloaded*", "overloaded*", "overloaded"],
  ),
  "sigterm-in-tool": interrupted("01a1e0cf-1d1d-7592-84c2-51987e176997"),
  "sigint-in-tool": interrupted("01a1e0cf-3b80-7253-9c82-49bb0211c15d"),
  "file-change": {
    ...HELLO,
    calls: [
      [
        "file_change",
        {
          changes: [
            { path: "/workspace/repo/README.md", kind: "update" },
            { path: "/workspace/repo/hello.txt", kind: "add" },
          ],
        },
      ],
    ],
    results: [["", false]],
    sessions: ["01a1e0cf-5961-7111-ae98-49ce21c2a4ee"],
  },
  "unknown-model": {
    ...HELLO,
    sessions: ["01a1e0cf-5b0c-77a2-b72d-1f8e3c86bbcd"],
  },
  "gpt6-code-mode": committed("01a1e0cf-5c8e-7fa2-aeb7-4aa4ae07d3e7", "8b1c2bd"),
  "no-auth": failed(
    "01a1e0cf-5f32-7bc3-9f23-fe93b93e4ba7",
    "Missing environment variable: `CODEX_API_KEY`.",
    ["authentication"],
  ),
  // The command that was refused leaves no trace.
  "workspace-write": {
    text: `I will create the file.\nDone.\n\n${SIGNAL}\n`,
    calls: [ran(WRITE)],
    results: [["", false]],
    sessions: ["01a1e0cf-6062-7981-a3f0-034ce94f5c5b"],
    verdict: "ok",
  },
};

describeRecordings(agent, "codex", GOLDEN);

describe("what Codex has used", () => {
  const before = usageInScript(recording("codex", "commit"), {});

  it("is that of the resumed turn alone, when the earlier usage of the session is known", () => {
    const recorded = recording("codex", "resume");
    const resume = { sessionId: COMMITTED, isFork: false, usedBefore: before };
    expect(told(replay(agent, recorded, { resume })).usage).toEqual(usageInScript(recorded, {}));
  });

  it("is counted once when there are several turns", () => {
    const turn = (input: number) => ({
      type: "turn.completed",
      usage: { input_tokens: input, cached_input_tokens: input / 2, output_tokens: input / 10 },
    });
    const usages = eventsOfType(read(agent, turn(100), turn(300)), "usage").map(({ usage }) => usage);
    expect(usages).toEqual([inAll(50, 50, 10), inAll(100, 100, 20)]);
  });

  it("is read from the last record of its session that counts tokens", () => {
    const total = { input_tokens: 6600, cached_input_tokens: 6000, output_tokens: 60 };
    const record = {
      type: "event_msg",
      payload: { type: "token_count", info: { total_token_usage: total } },
    };
    expect(agent.sessions?.usedInAll?.(record)).toEqual(inAll(600, 6000, 60));
  });

  it.each([
    { type: "event_msg", payload: { type: "token_count", info: null } },
    { type: "response_item", payload: { type: "message" } },
    { payload: "text" },
    {},
  ])("is not read from the record %j", (record) => {
    expect(agent.sessions?.usedInAll?.(record)).toBeUndefined();
  });
});

describe("a tool of Codex's", () => {
  const item = (phase: string, rest: object) => ({ type: `item.${phase}`, item: { id: "item_7", ...rest } });

  it("is called once, however often its state is reported", () => {
    const search = { type: "web_search", query: "dunes" };
    const events = read(agent, item("started", search), item("updated", search), item("completed", search));
    expect(told(events)).toMatchObject({
      calls: [["web_search", { query: "dunes" }]],
      results: [["", false]],
    });
  });

  it("is named after its server, with its arguments, when it is not Codex's own", () => {
    const call = { type: "mcp_tool_call", server: "tickets", tool: "close", arguments: { id: 7 } };
    const result = { content: [{ type: "text", text: "closed" }] };
    const events = read(
      agent,
      item("started", call),
      item("completed", { ...call, status: "completed", result }),
    );
    expect(told(events)).toMatchObject({
      calls: [["tickets.close", { id: 7 }]],
      results: [["closed", false]],
    });
  });

  it("says what went wrong when it has failed", () => {
    const call = { type: "mcp_tool_call", server: "tickets", tool: "close", status: "failed" };
    const events = read(agent, item("completed", { ...call, error: { message: "no such ticket" } }));
    expect(told(events).results).toEqual([["no such ticket", true]]);
  });

  it("that is another agent does not speak for this one", () => {
    const call = { type: "collab_tool_call", tool: "spawn_agent", prompt: `Say ${SIGNAL}` };
    expect(told(read(agent, item("started", call), item("completed", call))).text).toBe("");
  });
});
