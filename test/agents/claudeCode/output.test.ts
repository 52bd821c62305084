import { expect } from "vitest";
import { claudeCode } from "../../../src/agents/claudeCode/provider.ts";
import { describeRecordings, type Golden } from "../../helpers/agents/describeRecordings.ts";

const agent = claudeCode("claude-opus-4-8");
const SIGNAL = "<promise>COMPLETE</promise>";
const HELLO = { text: `Hello! ${SIGNAL}\n`, verdict: "ok" } as const;
const COMMITTED = "9ffd7134-bc82-4d87-84f1-8145548622d1";
const COMMIT = "git add -A && git commit -qm 'Add hello.txt' && git log --oneline | head -1";
const SLEEP = { command: "echo start; sleep 100; echo end" };

const bash = (command: string): [string, unknown] => ["Bash", { command }];

const failed = (session: string, problem: string, ...errors: readonly string[]): Golden => ({
  sessions: [session],
  verdict: "error",
  problem: expect.stringContaining(problem) as unknown as string,
  errors,
});

const GOLDEN: Readonly<Record<string, Golden>> = {
  text: { ...HELLO, sessions: ["a8fa2a52-d9be-4c87-90cd-134bdc2859da"] },
  commit: {
    text: `I will create the file.\nDone.\n\n${SIGNAL}\n`,
    calls: [
      ["Write", { file_path: "/workspace/repo/hello.txt", content: "hello from the agent\n" }],
      bash(COMMIT),
    ],
    results: [
      [expect.stringContaining("File created successfully at: /workspace/repo/hello.txt"), undefined],
      ["fd1b33f Add hello.txt", false],
    ],
    sessions: [COMMITTED],
    verdict: "ok",
  },
  resume: { ...HELLO, sessions: [COMMITTED] },
  continue: { ...HELLO, sessions: [COMMITTED] },
  fork: { ...HELLO, sessions: ["1651d7f4-0a10-40f6-b638-1b5c3edcf574"] },
  "resume-missing": {
    verdict: "error",
    problem: "No conversation found with session ID: 99999999-2222-4333-8444-555555555555",
    answers: 0,
  },
  thinking: { ...HELLO, sessions: ["61b27e2d-6eef-41d8-9e73-be3ec7a3f026"] },
  "tool-error": {
    ...HELLO,
    calls: [bash("echo out; echo err >&2; exit 3")],
    results: [["Exit code 3\nout\nerr", true]],
    sessions: ["43f42270-e69e-471d-b0ce-0d41b51b1e14"],
  },
  "signal-only-in-prompt": {
    text: "I am not done yet.\n",
    sessions: ["a1ddfd36-c999-45a8-9d41-391b7d284187"],
    verdict: "ok",
  },
  unicode: {
    text: `sep:\u2028:\u2029:\u0085: emoji 😀 "quoted" \\back ${SIGNAL}\n`,
    sessions: ["f6122956-7306-4727-bbfd-684574ae4e1d"],
    verdict: "ok",
  },
  "error-400": failed("7040c2e2-31d9-4d6d-a47b-2d80ff613f91", "API Error: 400 bad request", "other"),
  "error-401": failed(
    "fb4604dc-4370-4094-b183-d894b3195614",
    "Failed to authenticate. API Error: 401 invalid api key",
    ...["authentication*", "authentication*", "authentication"],
  ),
  "error-429": failed(
    "5263e962-1bfa-441e-89cb-489866a5c5c7",
    "API Error: Request rejected (429) · Rate limit reached",
    ...["rateLimit*", "rateLimit*", "rateLimit"],
  ),
  "error-429-then-ok": {
    ...HELLO,
    sessions: ["36b6320f-cfd4-486f-af96-6c0e9db8f0ca"],
    errors: ["rateLimit*", "rateLimit*"],
  },
  "error-500": failed(
    "dc306a31-c0c1-401a-be3b-0d9c3ac15648",
    "API Error: 500 Internal server error.",
    ...["overloaded*", "overloaded*", "overloaded"],
  ),
  "error-529": failed(
    "8302e879-44e3-4863-9700-c82f34acf0c9",
    "API Error: 529 Overloaded.",
    ...["overloaded*", "overloaded*", "overloaded"],
  ),
  "stream-cut": failed(
    "db917db7-39c1-49a3-a0c9-250e4875da86",
    "API Error: Connection dropped (ECONNRESET).",
    ...["unreachable*", "unreachable*", "overloaded"],
  ),
  unreachable: failed(
    "12c55221-7ef5-46f8-a553-c01064c10c1d",
    "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)",
    ...[...Array.from({ length: 10 }, () => "unreachable*"), "unreachable"],
  ),
  // The whole answer is counted at the end of a turn, which never came.
  "sigterm-in-tool": {
    text: "Sleeping.\n",
    calls: [["Bash", SLEEP]],
    results: [["Exit code 137\nstart", true]],
    sessions: ["8b6eb4b8-91b7-4d9c-a186-e2566e6e5b25"],
    usage: { inputTokens: 1200, cacheCreationInputTokens: 50, cacheReadInputTokens: 800, outputTokens: 1 },
    verdict: "none",
  },
  "sigint-in-tool": {
    text: "Sleeping.\n",
    calls: [["Bash", SLEEP]],
    results: [[expect.stringContaining("The tool use was rejected"), true]],
    sessions: ["6ec27938-749c-486e-98e4-5a3fa2f6a9b5"],
    answers: 1,
    verdict: "error",
    problem: "its turn ended early: aborted_tools",
  },
  "sigint-in-model-wait": {
    sessions: ["8b4ddb9c-b07c-4ddc-8807-626ddec46826"],
    usage: undefined,
    verdict: "none",
  },
  "partial-messages": {
    text: `Running.\nHello! ${SIGNAL}\n`,
    calls: [bash("echo hi")],
    results: [["hi", false]],
    sessions: ["0aae3d8a-5fe3-44bf-852a-6cef73682b31"],
    verdict: "ok",
  },
  // Of the subagent there is what it does and what it used, but not what it says.
  subagent: {
    text: "Delegating.\nmain done\n",
    calls: [
      [
        "Agent",
        {
          description: "sub",
          prompt: `sub prompt that quotes ${SIGNAL}`,
          subagent_type: "general-purpose",
          run_in_background: false,
        },
      ],
      bash("echo from-sub"),
    ],
    results: [
      ["from-sub", false],
      [expect.stringContaining("sub done"), undefined],
    ],
    sessions: ["54249752-42d7-4501-b583-2b46e7f5333f"],
    verdict: "ok",
  },
  "background-task": {
    text: `done ${SIGNAL}\ndone ${SIGNAL}\n`,
    calls: [["Bash", { command: "sleep 20; echo finished", description: "bg", run_in_background: true }]],
    results: [[expect.stringContaining("Command running in background with ID: beve4m0tr."), false]],
    sessions: ["da46df14-47ac-40f3-b66e-733181934957"],
    answers: 3,
    verdict: "ok",
  },
  "max-turns": {
    calls: [bash("echo 1")],
    results: [["1", false]],
    sessions: ["e5e178e9-f487-424d-b118-5338330bf334"],
    answers: 1,
    verdict: "error",
    problem: "Reached maximum number of turns (1)",
  },
  "permission-denied": {
    text: "could not\n",
    calls: [bash("touch x")],
    results: [[expect.stringContaining("touch in '/workspace/repo/x' needs approval."), true]],
    sessions: ["04c4f355-c696-447d-8ee0-deeb43cf3b23"],
    verdict: "ok",
  },
  "no-auth": {
    ...failed("d80d8dc3-6242-438d-bd16-c95b3933b4b8", "Not logged in · Please run /login", "authentication"),
    answers: 0,
  },
  "input-stream-json": {
    text: "one\ntwo\n",
    sessions: ["cc34d54d-af82-4530-8c02-dd2faeb3f9cc"],
    verdict: "ok",
  },
  // Nothing but the result: it is not asked for, but it is understood.
  "output-json": { verdict: "ok" },
};

describeRecordings(agent, "claude-code", GOLDEN, { tellsCacheCreation: true });
