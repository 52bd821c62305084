import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type AgentProvider,
  aider,
  claudeCode,
  codex,
  command,
  InvalidOptionsError,
  type McpServers,
  type RunOptions,
  run,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { AGENT_PATH, agentMount } from "../helpers/agents.ts";
import type { ScriptedCall } from "../helpers/modelServer/script.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { AGENTS, listening, runReal, scriptedModel, temporaryHome, turnsOf } from "./realAgents.ts";

const FIXTURES = join(import.meta.dirname, "fixtures");
const IN_SANDBOX = "/opt/fixtures";
/** opencode alone takes half a minute on a busy machine. */
const TIMEOUT_MS = 150_000;

/** A server of tools on the loopback, for as long as the test takes; its port. */
const startServer = async (tool: string): Promise<number> => {
  const server = spawn(process.execPath, [join(FIXTURES, "mcpServer.mjs"), tool, "--http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    server.kill();
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
  });
  const [printed] = await once(server.stdout, "data");
  return Number(String(printed));
};

/** A program in the sandbox, and an address. */
const bothKinds = (port: number): McpServers => ({
  lines: { command: "node22", args: [`${IN_SANDBOX}/mcpServer.mjs`, "greet"], env: { GREETER: "Ada B" } },
  web: { url: `http://127.0.0.1:${port}/mcp`, headers: { "x-greeter": "Grace" } },
});

interface Case {
  readonly agent: "claude" | "codex" | "opencode" | "pi";
  /** What the model is told of the tools. */
  readonly offered: readonly [RegExp, RegExp];
  /** What the model calls them. */
  readonly calls: readonly [string, string];
  readonly provider?: (model: string) => AgentProvider;
}

const CASES: readonly Case[] = [
  {
    agent: "claude",
    offered: [/mcp__lines__greet/, /mcp__web__welcome/],
    calls: ["mcp__lines__greet", "mcp__web__welcome"],
  },
  {
    agent: "codex",
    offered: [/"mcp__lines".*"name":"greet"/, /"mcp__web".*"name":"welcome"/],
    calls: ["greet", "welcome"],
    // A model that it knows has to search for tools; this one is offered all of them.
    provider: () => codex("gpt-6"),
  },
  {
    agent: "opencode",
    offered: [/lines_greet/, /web_welcome/],
    calls: ["lines_greet", "web_welcome"],
  },
  {
    agent: "pi",
    offered: [/"name":"lines_greet"/, /"name":"web_welcome"/],
    calls: ["lines_greet", "web_welcome"],
  },
];

for (const { agent, offered, calls, provider } of CASES) {
  describeWith([AGENTS[agent].runtime, "bubblewrap"], `MCP servers of the real ${agent}`, () => {
    it(
      "are a program in the sandbox or an address: the model is offered their tools, and what they answer is told",
      async () => {
        temporaryHome();
        const port = await startServer("welcome");
        const [greet, welcome] = calls.map((name): ScriptedCall => ({ name, input: { name: "Bob" } }));
        const model = await scriptedModel([
          { calls: [greet as ScriptedCall] },
          { calls: [welcome as ScriptedCall] },
          { text: "<promise>COMPLETE</promise>" },
        ]);
        const { events, logging } = listening();
        const fixtures = { hostPath: FIXTURES, sandboxPath: IN_SANDBOX, readOnly: true };
        const result = await runReal({
          agent,
          sandbox: "bubblewrap",
          model,
          cwd: temporaryRepository(),
          ...(provider && { provider }),
          options: {
            sandbox: bubblewrap({ network: true, path: AGENT_PATH, mounts: [agentMount(), fixtures] }),
            mcpServers: bothKinds(port),
            logging,
          },
        });
        expect(result.completionSignal).toBe("<promise>COMPLETE</promise>");
        const [request = ""] = turnsOf(model);
        expect(offered.filter((tool) => !tool.test(request))).toEqual([]);
        const called = events.flatMap((event) => (event.type === "toolCall" ? [event] : []));
        expect(called.map(({ name }) => name)).toEqual([
          expect.stringMatching(/lines.+greet/),
          expect.stringMatching(/web.+welcome/),
        ]);
        expect(called.map(({ input }) => input)).toEqual([{ name: "Bob" }, { name: "Bob" }]);
        const answered = events.flatMap((event) => (event.type === "toolResult" ? [event] : []));
        expect(answered.map(({ output }) => output)).toEqual(["Ada B: greet Bob", "Grace: welcome Bob"]);
        expect(answered.map(({ id }) => id)).toEqual(called.map(({ id }) => id));
        expect(answered.filter(({ isError }) => isError)).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });
}

/** The error of a run that nothing came of. */
const refusalOf = async (options: Partial<RunOptions>) => {
  const cwd = temporaryRepository();
  const running = run({
    agent: claudeCode("claude-sonnet-4-5"),
    sandbox: testIsolated(),
    cwd,
    prompt: "Work",
    ...options,
  } as RunOptions);
  const error = await running.then(
    () => expect.unreachable("The run has succeeded"),
    (reason) => reason,
  );
  expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  return error;
};

describe("MCP servers", () => {
  it.each<[string, AgentProvider]>([
    ["aider", aider("anthropic/claude-sonnet-4-5")],
    ["command", command("true")],
  ])("are refused before anything is created for an agent that takes none: %s", async (name, agent) => {
    const error = await refusalOf({ agent, mcpServers: { tools: { command: "true" } } });
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain("mcpServers");
    expect(error.message).toContain(name);
  });

  it.each<[string, unknown]>([
    ["that are a list", [{ command: "true" }]],
    ["that are text", "npx tools"],
    ["with a server that is text", { tools: "npx tools" }],
    ["with neither a command nor an address", { tools: {} }],
    ["with a command and an address", { tools: { command: "true", url: "http://127.0.0.1" } }],
    ["with an empty command", { tools: { command: "" } }],
    ["with a command that is a list", { tools: { command: ["npx", "tools"] } }],
    ["with arguments that are text", { tools: { command: "npx", args: "tools" } }],
    ["with env vars that are numbers", { tools: { command: "true", env: { PORT: 1 } } }],
    ["with headers that are a list", { tools: { url: "http://127.0.0.1", headers: ["x"] } }],
    ["with headers of a command", { tools: { command: "true", headers: { x: "y" } } }],
    ["with arguments of an address", { tools: { url: "http://127.0.0.1", args: [] } }],
    ["with an address that is none", { tools: { url: "not an address" } }],
    ["with an address of another protocol", { tools: { url: "file:///etc/passwd" } }],
    ["with an option that is not known", { tools: { command: "true", cwd: "/" } }],
    ["with a name that is no name", { "my tools": { command: "true" } }],
    ["with a name that has a dot", { "my.tools": { command: "true" } }],
  ])("%s are refused before anything is created", async (_, mcpServers) => {
    const error = await refusalOf({ mcpServers: mcpServers as McpServers });
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain("mcpServers");
  });

  it("that are wrong are told by their name, never by their values", async () => {
    const servers = { tools: { command: "true", env: { TOKEN: "hunter2hunter2", PORT: 1 } } };
    const error = await refusalOf({ mcpServers: servers as unknown as McpServers });
    expect(error.message).toContain("tools");
    expect(error.message).not.toContain("hunter2");
  });
});
