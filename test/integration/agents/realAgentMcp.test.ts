import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AgentProvider,
  aider,
  claudeCode,
  codex,
  command,
  createSandbox,
  InvalidOptionsError,
  type McpServers,
  pi,
  type RunOptions,
  run,
  type SandboxRunOptions,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { AGENT_PATH, agentMount, offlineAgent, writeAgentFiles } from "../../helpers/agents/agents.ts";
import type { ScriptedCall } from "../../helpers/modelServer/script.ts";
import type { ModelServer } from "../../helpers/modelServer/server.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { afterTest, describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import {
  AGENTS,
  type AgentName,
  listening,
  PATIENCE,
  PROVIDERS,
  publicEnv,
  runReal,
  scriptedModel,
  turnsOf,
} from "./realAgents.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
const IN_SANDBOX = "/opt/fixtures";
const MOUNTS = [agentMount(), { hostPath: FIXTURES, sandboxPath: IN_SANDBOX, readOnly: true }];
const SANDBOXES = {
  bubblewrap: () => bubblewrap({ network: true, path: AGENT_PATH, mounts: MOUNTS }),
  docker: () => docker({ imageName: TEST_IMAGE, network: "host", mounts: MOUNTS }),
} as const;
const DONE = { text: "<promise>COMPLETE</promise>" };

let web: ChildProcess;
let port: number;
beforeAll(async () => {
  web = spawn(process.execPath, [join(FIXTURES, "mcpServer.mjs"), "welcome", "--http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed] = await once(web.stdout as NodeJS.ReadableStream, "data");
  port = Number(String(printed));
});
afterAll(async () => {
  web.kill();
  await once(web, "exit");
});

/** A program in the sandbox, and an address. */
const bothKinds = (): McpServers => ({
  lines: { command: "node22", args: [`${IN_SANDBOX}/mcpServer.mjs`, "greet"], env: { GREETER: "Ada B" } },
  web: { url: `http://127.0.0.1:${port}/mcp`, headers: { "x-greeter": "Grace" } },
});

interface Case {
  /** What the model calls the tools. */
  readonly calls: readonly [string, string];
  /** How the model is told of them, if not by that. */
  readonly offered?: readonly [RegExp, RegExp];
  readonly provider?: (model: string) => AgentProvider;
}

const CASES: Readonly<Record<AgentName, Case>> = {
  claude: { calls: ["mcp__lines__greet", "mcp__web__welcome"] },
  codex: {
    calls: ["greet", "welcome"],
    offered: [/"mcp__lines".*"name":"greet"/, /"mcp__web".*"name":"welcome"/],
    // A model that it knows has to search for tools; this one is offered all of them.
    provider: () => codex("gpt-6"),
  },
  opencode: { calls: ["lines_greet", "web_welcome"] },
  pi: { calls: ["lines_greet", "web_welcome"] },
  gemini: { calls: ["mcp_lines_greet", "mcp_web_welcome"] },
  copilot: { calls: ["lines-greet", "web-welcome"] },
};

const toolEvents = ({ events }: ReturnType<typeof listening>) => ({
  called: events.flatMap((event) => (event.type === "toolCall" ? [event] : [])),
  answered: events.flatMap((event) => (event.type === "toolResult" ? [event] : [])),
});

/** Stands on the command lines of servers. */
const markOf = (name: string) => `mark-${process.pid}-${name}`;

const marked = (tool: string, ...flags: string[]): McpServers[string] => ({
  command: "node22",
  args: [`${IN_SANDBOX}/mcpServer.mjs`, tool, ...flags],
  env: { GREETER: "Ada" },
});

/** A sandbox that lasts as long as the test, in which pi speaks to the model. */
const openForPi = async (name: keyof typeof SANDBOXES, model: ModelServer) => {
  const offline = offlineAgent("pi", model.url);
  const cwd = temporaryRepository();
  const sandbox = await createSandbox({
    sandbox: SANDBOXES[name](),
    branch: "agent/work",
    cwd,
    env: publicEnv({ PATH: AGENT_PATH, ...offline.env }),
    hooks: { sandbox: { onSandboxReady: [{ command: writeAgentFiles(offline) }] } },
  });
  afterTest(async () => void (await sandbox.close()));
  const agent = pi(offline.model, { captureSessions: false });
  const work = (options: Pick<SandboxRunOptions, "logging" | "mcpServers" | "signal">) =>
    sandbox.run({ agent, prompt: "Greet the world.", ...options });
  return { cwd, sandbox, work };
};

const itEndsServersOfAbortedRuns = (name: keyof typeof SANDBOXES) =>
  it("end when the run is aborted in the middle of a tool call", PATIENCE, async () => {
    const model = await scriptedModel([{ calls: [{ name: "lines_wait", input: { name: "Bob" } }] }]);
    const { work, cwd } = await openForPi(name, model);
    const mark = markOf(`aborted-${name}`);
    const controller = new AbortController();
    const { events, logging } = listening();
    const running = work({
      mcpServers: { lines: marked("wait", "--silent", mark) },
      signal: controller.signal,
      logging,
    }).catch((reason: unknown) => reason);
    await waitFor(() => events.some(({ type }) => type === "toolCall"), 100_000);
    expect(processesWith(mark)).not.toEqual([]);
    controller.abort("enough");
    expect(await running).toBe("enough");
    await waitFor(() => processesWith(mark).length === 0);
    expect(git(cwd, "log", "--format=%s", "HEAD..agent/work")).toBe("");
  });

describeSideBySide("MCP servers of a real agent", () => {
  for (const [agent, { calls, offered, provider }] of Object.entries(CASES) as [AgentName, Case][]) {
    describeWith([AGENTS[agent].runtime, "bubblewrap"], `MCP servers of the real ${agent}`, () => {
      it(
        "are a program in the sandbox or an address: the model is offered their tools, and what they answer is told",
        PATIENCE,
        async () => {
          const [greet, welcome] = calls.map((name) => ({ name, input: { name: "Bob" } })) as [
            ScriptedCall,
            ScriptedCall,
          ];
          const model = await scriptedModel([{ calls: [greet] }, { calls: [welcome] }, DONE]);
          const listener = listening();
          const result = await runReal({
            ...{ agent, sandbox: "bubblewrap", model, cwd: temporaryRepository() },
            provider: (name) => ({ ...(provider ?? PROVIDERS[agent])(name), captureSessions: false }),
            options: {
              sandbox: SANDBOXES.bubblewrap(),
              mcpServers: bothKinds(),
              logging: listener.logging,
            },
          });
          expect(result.completionSignal).toBe(DONE.text);
          const [request = ""] = turnsOf(model);
          expect(
            (offered ?? calls.map((name) => new RegExp(name))).filter((tool) => !tool.test(request)),
          ).toEqual([]);
          const { called, answered } = toolEvents(listener);
          expect(called.map(({ name }) => name)).toEqual([
            expect.stringMatching(/lines.+greet/),
            expect.stringMatching(/web.+welcome/),
          ]);
          expect(called.map(({ input }) => input)).toEqual([{ name: "Bob" }, { name: "Bob" }]);
          expect(answered.map(({ output }) => output)).toEqual(["Ada B: greet Bob", "Grace: welcome Bob"]);
          expect(answered.map(({ id }) => id)).toEqual(called.map(({ id }) => id));
          expect(answered.filter(({ isError }) => isError)).toEqual([]);
        },
      );
    });
  }

  describeWith(["pi", "bubblewrap"], "MCP servers of the real pi in a sandbox that lasts", () => {
    it("are there for one run, end with it, and leave nothing in the repository", PATIENCE, async () => {
      const greet = { calls: [{ name: "lines_greet", input: { name: "Bob" } }] };
      const model = await scriptedModel([greet, DONE, DONE]);
      const { sandbox, work } = await openForPi("bubblewrap", model);
      const mark = markOf("lasting");
      const { events, logging } = listening();
      const broken = { command: "node22", args: ["--eval", "console.error('no key'); process.exit(7)"] };
      const result = await work({ mcpServers: { lines: marked("greet", mark), broken }, logging });
      expect(result.completionSignal).toBe(DONE.text);
      expect(result.warnings).toEqual([]);
      expect(result.commits).toEqual([]);
      expect(events).toContainEqual(
        expect.objectContaining({ type: "toolResult", output: "Ada: greet Bob" }),
      );
      expect(events.filter((event) => event.type === "raw")).toMatchObject([
        {
          stream: "stderr",
          line: "sanddune: the MCP server broken cannot be used: it ended with exit code 7: no key",
        },
      ]);
      expect(processesWith(mark)).toEqual([]);
      expect((await sandbox.exec("git status --porcelain --ignored")).stdout).toBe("");
      await work({});
      expect(turnsOf(model).at(-1)).not.toContain("lines_greet");
    });

    itEndsServersOfAbortedRuns("bubblewrap");
  });

  describeWith(["pi", "docker"], "MCP servers of the real pi in docker", () => {
    itEndsServersOfAbortedRuns("docker");
  });
});

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

  it("that are wrong are reported by their name, never by their values", async () => {
    const servers = { tools: { command: "true", env: { TOKEN: "hunter2hunter2", PORT: 1 } } };
    const error = await refusalOf({ mcpServers: servers as unknown as McpServers });
    expect(error.message).toContain("tools");
    expect(error.message).not.toContain("hunter2");
  });
});
