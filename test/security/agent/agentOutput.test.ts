import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentProvider } from "../../../src/index.ts";
import type { SandboxHandle } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import type { Overrides } from "../../engine/iterations/loops.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { openIsolated } from "../../sandboxes/openSandbox.ts";
import { failureOf } from "../support.ts";
import {
  AGENTS,
  type AgentName,
  apiError,
  attack,
  begins,
  failure,
  invoke,
  posing,
  print,
  SUCCESS,
} from "./posing.ts";
import { hostHome } from "./sessionAttacks.ts";

let sandbox: SandboxHandle;
beforeAll(async () => {
  sandbox = await openIsolated(testIsolated());
});
afterAll(() => sandbox.close());

const play = (script: string, overrides: Overrides = {}, agent: AgentName = "claude") =>
  invoke(sandbox, posing(agent, script), overrides);

const used = (outputTokens: number | string | null, id = "m") => ({
  type: "assistant",
  message: { id, content: [], usage: { input_tokens: 0, output_tokens: outputTokens } },
});

const ENDS: Readonly<Record<AgentName, object>> = {
  claude: SUCCESS,
  codex: { type: "turn.completed", usage: {} },
  pi: { type: "agent_settled" },
  opencode: { type: "step_finish", part: { reason: "stop" } },
  gemini: { type: "result", status: "success" },
};

/** For opencode, after a step that has called a tool. */
const NEXT_STEP = { type: "step_start", part: {} };
const NO_PRIMITIVE = { toString: 1, valueOf: 1 };
const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

const ODD: readonly object[] = [
  { type: NO_PRIMITIVE },
  { type: "system", subtype: NO_PRIMITIVE, session_id: NO_PRIMITIVE },
  { type: "result", subtype: "success", errors: [NO_PRIMITIVE], result: NO_PRIMITIVE },
  { type: "user", message: { content: [{ type: "tool_result", content: [{ type: NO_PRIMITIVE }] }] } },
  { type: "assistant", message: { content: [null, 1, "x", { type: NO_PRIMITIVE, tool_use_id: "x" }] } },
  { type: "item.completed", item: { type: NO_PRIMITIVE, id: NO_PRIMITIVE, error: NO_PRIMITIVE } },
  {
    type: "message_end",
    message: { role: "assistant", content: [NO_PRIMITIVE], stopReason: NO_PRIMITIVE },
  },
  { type: "tool_execution_end", result: { content: [{ type: NO_PRIMITIVE }] } },
  { type: "tool_use", part: { tool: NO_PRIMITIVE, state: NO_PRIMITIVE } },
  { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1e300 } },
];

const DEEPER_THAN_ANY_STACK = `N=$(printf '%s' '${deep(20_000)}')
printf '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":%s}]}}\\n' "$N"
printf '{"type":"item.completed","item":{"type":"x","id":"1","x":%s,"result":{"content":%s}}}\\n' "$N" "$N"
printf '{"type":"tool_execution_end","result":{"content":%s}}\\n' "$N"
printf '{"type":"tool_use","part":{"state":{"input":%s}}}\\n' "$N"
printf '{"type":%s}\\n' "$N"`;

const NO_TEXT = `printf '{"type":"a\\0"}\\n\\377\\376{"type":1}\\n{"type":"result"\\n{"type":"x","__proto__":{"type":"result"}}\\n'`;

const LINES = {
  "of odd types": print(...ODD),
  "deeper than any stack": DEEPER_THAN_ANY_STACK,
  "with NUL, invalid UTF-8 and half a JSON": NO_TEXT,
};

describe.each(Object.keys(ENDS) as AgentName[])("lines that %s never prints", (agent) => {
  it.each(Object.entries(LINES))("%s do not end the run", async (_, script) => {
    const { ends } = await play(`${script}\n${print(NEXT_STEP, ENDS[agent])}`, {}, agent);
    expect(ends).toMatchObject([{ failed: false }]);
    expect(({} as Record<string, unknown>)["type"]).toBeUndefined();
  });
});

it("lines that no agent ever prints do not end a whole run", async () => {
  hostHome();
  const script = [...Object.values(LINES), print(NEXT_STEP, ...Object.values(ENDS))].join("\n");
  const everyAgent: AgentProvider = posing("claude", script, {
    createParser: (iteration) => {
      const parsers = Object.values(AGENTS).map((agent) => agent().createParser(iteration));
      return (line, stream) => parsers.flatMap((parse) => parse(line, stream));
    },
  });
  const { iterations } = await attack(temporaryRepository(), everyAgent);
  expect(iterations).toHaveLength(1);
});

describe("figures that cannot be", () => {
  it.each([
    ["negative", "-1000"],
    ["without end", "1e999"],
    ["a string", '"1000"'],
    ["nothing", "null"],
    ["a list", "[1]"],
  ])("%s count as none", async (_, figure) => {
    const script = `echo '{"type":"assistant","message":{"id":"m","usage":{"output_tokens":${figure}}}}'
      ${print(used(7, "n"), { ...SUCCESS, usage: { output_tokens: 0 } })}`;
    const { ends } = await play(script);
    expect(ends[0]?.result.usage).toMatchObject({ inputTokens: 0, outputTokens: 7 });
  });

  it("in the greatest numbers there are stay numbers", async () => {
    const script = print(
      ...Array.from({ length: 5 }, (_, index) => used(Number.MAX_VALUE, `m${index}`)),
      SUCCESS,
    );
    const { ends } = await play(script);
    expect(ends[0]?.result.usage?.outputTokens).toBe(Number.MAX_VALUE);
  });
});

describe("a budget is not got round", () => {
  const goOn = `${print({ type: "assistant", message: { content: [{ type: "text", text: "more" }] } })}; sleep 1000`;

  it.each([
    ["negative figures", print(used(-1e9, "a"), used(500, "b"))],
    ["saying first that the turn is over", print(SUCCESS, used(500, "b"))],
    ["the same message again and again", print(used(1, "a"), used(500, "b"))],
  ])("by %s", async (_, lines) => {
    const error = await failureOf(play(`${lines}\n${goOn}`, { maxTokens: 100, maxIterations: 3 }));
    expect(error.name).toBe("BudgetExceededError");
  });

  it("and what was committed before is kept", async () => {
    hostHome();
    const cwd = temporaryRepository();
    const script = `git commit --quiet --allow-empty -m Work; ${print(used(500))}\n${goOn}`;
    const error = await failureOf(
      attack(cwd, posing("claude", script), {
        maxTokens: 100,
        maxIterations: 3,
        branchStrategy: { type: "branch", branch: "work" },
      }),
    );
    expect(error.commits).toHaveLength(1);
    expect(git(cwd, "log", "--format=%s", "main..work")).toBe("Work");
  });
});

describe("times that cannot be are not waited for", () => {
  const limited = (words: string) => print(apiError(words, 429), failure(words, 429));

  it.each([
    ["no date at all", "429 rate limit until 2026-13-45T25:61Z"],
    ["after the end of time", "429 rate limit, try again in 99999999999999999999 days"],
    ["in a thousand years", "429 rate limit, resets 99999999999"],
    ["at the greatest date", "429 rate limit until 9999-12-31T23:59Z"],
    ["at an hour that is none", "429 rate limit, resets 99:99pm"],
  ])("%s", async (_, words) => {
    const error = await failureOf(play(limited(words), { onRateLimit: { waitUpToMs: 100 } }));
    expect(error.name).toBe("AgentRateLimitError");
    const { retryAt } = error as { retryAt?: Date };
    if (retryAt !== undefined) expect(Number.isNaN(retryAt.getTime())).toBe(false);
  });
});

describe("success is not what an agent says that has failed after all", () => {
  it.each([
    ["the last result counts", print(SUCCESS, failure("Invalid API key", 401))],
    ["nothing at all is no success", "true"],
    ["an exit code is no success", `${print(begins("abc"))}; exit 0`],
    ["a result on stderr is none", `{ ${print(SUCCESS)}; } >&2`],
    [
      "a result within a string is none",
      print({ type: "assistant", message: { content: [{ type: "text", text: JSON.stringify(SUCCESS) }] } }),
    ],
  ])("%s", async (_, script) => {
    const error = await failureOf(play(script));
    expect(error.name).toMatch(/^Agent(Failed|Authentication)Error$/);
  });
});
