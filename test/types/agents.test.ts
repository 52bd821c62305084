import { expect, expectTypeOf, it } from "vitest";
import {
  type AgentProvider,
  aider,
  claudeCode,
  codex,
  copilot,
  cursor,
  type EnvValue,
  gemini,
  opencode,
  pi,
  type RunResult,
  type Sandbox,
  type SandboxRunResult,
  type TokenPrices,
  type Worktree,
} from "../../src/index.ts";
import { docker } from "../../src/sandboxes/docker.ts";

it("each agent declares its env vars by name", () => {
  expectTypeOf(claudeCode("m").env?.ANTHROPIC_API_KEY).toEqualTypeOf<EnvValue | undefined>();
  expectTypeOf(codex("m").env?.CODEX_API_KEY).toEqualTypeOf<EnvValue | undefined>();
  expectTypeOf(opencode("a/m").env?.OPENCODE_API_KEY).toEqualTypeOf<EnvValue | undefined>();
  expectTypeOf(pi("a/m").env?.ANTHROPIC_API_KEY).toEqualTypeOf<EnvValue | undefined>();
  expectTypeOf(gemini("m").env?.GEMINI_API_KEY).toEqualTypeOf<EnvValue | undefined>();
  expectTypeOf(copilot("m").env?.COPILOT_GITHUB_TOKEN).toEqualTypeOf<EnvValue | undefined>();
  expectTypeOf(cursor("m").env?.CURSOR_API_KEY).toEqualTypeOf<EnvValue | undefined>();
  expectTypeOf(aider("m").env?.OPENAI_API_KEY).toEqualTypeOf<EnvValue | undefined>();
  for (const agent of [
    claudeCode("m"),
    codex("m"),
    opencode("openai/m"),
    pi("openai/m"),
    gemini("m"),
    cursor("m"),
  ]) {
    expectTypeOf(agent).toExtend<AgentProvider>();
    expect(Object.keys(agent.env ?? {})).toEqual(expect.arrayContaining([expect.stringMatching(/_KEY$/)]));
  }
});

it("an effort that the agent does not know is a compile-time error", () => {
  const use = [
    () => claudeCode("m", { effort: "max" }),
    () => codex("m", { effort: "xhigh" }),
    () => pi("a/m", { thinking: "off" }),
    // @ts-expect-error Claude Code knows no such effort
    () => claudeCode("m", { effort: "minimal" }),
    // @ts-expect-error Codex knows no such effort
    () => codex("m", { effort: "max" }),
    // @ts-expect-error pi knows no such level
    () => pi("a/m", { thinking: "none" }),
  ];
  expect(use.slice(0, 3).map((create) => create().name)).toEqual(["claude-code", "codex", "pi"]);
  for (const create of use.slice(3)) expect(create).toThrow(/expected one of/);
});

it("only a run with its own sandbox can be resumed", () => {
  const use = async (sandbox: Sandbox, worktree: Worktree) => {
    const work = { agent: claudeCode("m"), prompt: "x" };
    const result = await worktree.run({ ...work, sandbox: docker() });
    expectTypeOf(result).toEqualTypeOf<RunResult<undefined>>();
    expectTypeOf(result.resume("x")).resolves.toEqualTypeOf<RunResult<undefined>>();
    expectTypeOf(result.fork("x")).resolves.toEqualTypeOf<RunResult<undefined>>();
    const inSandbox = await sandbox.run(work);
    expectTypeOf(inSandbox).toEqualTypeOf<SandboxRunResult<undefined>>();
    // @ts-expect-error a sandbox that lasts goes on with no session
    inSandbox.resume("x");
    // @ts-expect-error a sandbox that lasts goes on with no session
    sandbox.run({ ...work, forkSession: true });
  };
  expect(use).toBeTypeOf("function");
});

it("prices are for input and output at the least", () => {
  expectTypeOf<{ inputPerMillion: 3; outputPerMillion: 15 }>().toExtend<TokenPrices>();
  expectTypeOf<{ inputPerMillion: 3 }>().not.toExtend<TokenPrices>();
});
