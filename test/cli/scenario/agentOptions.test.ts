import { describe, expect, it } from "vitest";
import { codex } from "../../../src/agents/codex/provider.ts";
import { type AgentFlags, agentOptionsOf } from "../../../src/cli/scenario/agentOptions.ts";
import { InvalidOptionsError } from "../../../src/errors.ts";
import { type ChosenAgent, chooseAgent } from "../../../src/scenarios/agents/chooseAgent.ts";
import { thrownBy } from "../../helpers/processes/thrownBy.ts";

const choose = (platform: string | undefined, flags: AgentFlags = {}, env: NodeJS.ProcessEnv = {}) =>
  chooseAgent(platform, agentOptionsOf(flags, env));

/** The model that the agent's program is told to use. */
const modelIn = (chosen: unknown, stepModel?: string): string =>
  JSON.stringify((chosen as ChosenAgent).create(stepModel).buildCommand({ prompt: "x", iteration: 1 }));

describe("the agent of a scenario", () => {
  it.each([
    [undefined, "cursor"],
    ["cursor", "cursor"],
    ["claude", "claude-code"],
    ["claude-code", "claude-code"],
    ["codex", "codex"],
    ["aider", "aider"],
    ["opencode", "opencode"],
    ["pi", "pi"],
    ["gemini", "gemini"],
    ["copilot", "copilot"],
  ])("for the platform %s is %s", (platform, provider) => {
    const chosen = choose(platform);
    expect(chosen.provider).toBe(provider);
    expect((chosen as ChosenAgent).create().name).toBe(provider);
  });

  it("is the one of the env var, whatever the platform", () => {
    expect(choose("claude", {}, { SANDDUNE_AGENT_PROVIDER: "codex" }).provider).toBe("codex");
  });

  it("is refused if the env var names none, with the nearest name", () => {
    const error = thrownBy(() => choose("claude", {}, { SANDDUNE_AGENT_PROVIDER: "claude-cod" }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error).toMatchObject({ option: "SANDDUNE_AGENT_PROVIDER" });
    expect(String(error)).toContain('there is no agent "claude-cod"; expected one of: claude-code, codex');
    expect(String(error)).toContain("Did you mean claude-code?");
  });

  it("is refused if the env var wants a program, and none is named", () => {
    const env = { SANDDUNE_AGENT_PROVIDER: "command" };
    expect(String(thrownBy(() => choose("claude", {}, env)))).toContain("pass --agent-command");
    expect(choose("claude", { agentCommand: "sh ./a.sh" }, env).provider).toBe("command");
  });

  it("is the one of the flag, whatever the env var says", () => {
    const env = { SANDDUNE_AGENT_PROVIDER: "codex" };
    expect(choose("claude", { agent: "pi" }, env).provider).toBe("pi");
  });

  it.each(["windsurf", "constructor", "__proto__"])(
    "does not exist for the unknown platform %s",
    (platform) => {
      const chosen = choose(platform);
      expect(chosen).toMatchObject({ provider: platform, model: null });
      expect("manual" in chosen && chosen.manual).toMatch(
        /^There is no agent .*--agent \(claude-code, codex/,
      );
    },
  );

  it("can be any program", () => {
    const chosen = choose("claude", { agent: "command", agentCommand: "sh ./agent.sh" });
    expect(chosen).toMatchObject({ provider: "command", model: null });
    expect(modelIn(chosen)).toContain("sh ./agent.sh");
  });

  it("is refused if any program was chosen, and none was named", () => {
    expect(String(thrownBy(() => choose("claude", { agent: "command" })))).toContain("--agent-command");
    expect(String(thrownBy(() => choose("claude", { agentCommand: " " })))).toContain("it is empty");
  });

  it("is unavailable if a page wants any program", () => {
    expect(choose("command")).toMatchObject({ manual: expect.stringContaining("--agent-command") });
  });

  it("can be a provider, which has its own model", () => {
    const agent = codex("m-own");
    const chosen = chooseAgent("claude", { agent }) as ChosenAgent;
    expect(chosen).toMatchObject({ provider: "codex", model: "m-own" });
    expect(chosen.create("m-step")).toBe(agent);
  });
});

describe("the model of an agent", () => {
  it("is one that it is known to work with, unless something else is said", () => {
    expect(choose("cursor").model).toBe("composer-2");
  });

  it.each([
    { said: "nothing", flags: {}, env: {}, step: undefined, model: "composer-2" },
    {
      said: "the env var",
      flags: {},
      env: { SANDDUNE_AGENT_MODEL: "m-env" },
      step: undefined,
      model: "m-env",
    },
    {
      said: "an empty env var",
      flags: {},
      env: { SANDDUNE_AGENT_MODEL: "" },
      step: undefined,
      model: "composer-2",
    },
    {
      said: "the step and the env var",
      flags: {},
      env: { SANDDUNE_AGENT_MODEL: "m-env" },
      step: "m-step",
      model: "m-step",
    },
    {
      said: "the flag, the step and the env var",
      flags: { model: "m-flag" },
      env: { SANDDUNE_AGENT_MODEL: "m-env" },
      step: "m-step",
      model: "m-flag",
    },
  ])("is $model if said by $said", ({ flags, env, step, model }) => {
    expect(modelIn(choose("cursor", flags, env), step)).toContain(`--model ${model}`);
  });
});

describe("the time limit of an agent", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    ["1500", 1500],
  ])("with the env var at %j is %j", (text, timeoutMs) => {
    expect(agentOptionsOf({}, { SANDDUNE_AGENT_TIMEOUT_MS: text }).agentTimeoutMs).toBe(timeoutMs);
  });

  it.each(["0", "-5", "soon", "1.5", "10m", "Infinity", "2147483648"])(
    "cannot be %j, which is bad usage",
    (text) => {
      expect(() => agentOptionsOf({}, { SANDDUNE_AGENT_TIMEOUT_MS: text })).toThrow(InvalidOptionsError);
      expect(() => agentOptionsOf({}, { SANDDUNE_AGENT_TIMEOUT_MS: text })).toThrow(
        /SANDDUNE_AGENT_TIMEOUT_MS.*milliseconds/,
      );
    },
  );
});
