import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type AgentFlags, agentOptionsOf } from "../../../src/cli/scenario/agentOptions.ts";
import { InvalidOptionsError } from "../../../src/errors.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { AgentTraces } from "../../../src/scenarios/agents/agentTraces.ts";
import { performAgentStep } from "../../../src/scenarios/agents/performAgentStep.ts";
import { prepareAgent } from "../../../src/scenarios/agents/prepareAgent.ts";
import type { AgentStep } from "../../../src/scenarios/spec.ts";
import {
  AGENT_PATH,
  type OfflineAgentName,
  offlineAgent,
  writeAgentFiles,
} from "../../helpers/agents/agents.ts";
import type { Turn } from "../../helpers/modelServer/script.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { git } from "../../helpers/repository/repository.ts";
import { describeWith, AGENTS as INSTALLED, type Runtime } from "../../helpers/runtimes/runtimes.ts";
import { type Scene, scenarioScene } from "../../helpers/scenarioScene.ts";
import { PATIENCE, SANDBOXES, type SandboxName, scriptedModel, turnsOf } from "../agents/realAgents.ts";

useOwnTemporaryDirectory();

const KEYS = ["ANTHROPIC_API_KEY", "CODEX_API_KEY", "CURSOR_API_KEY", "ANTHROPIC_BASE_URL", "CURSOR_SDK"];

beforeAll(() => {
  // What the machine that runs the tests has set must not decide how they end.
  for (const key of KEYS) vi.stubEnv(key, undefined);
  // npm and some of the agents would leave a cache in the temporary directory.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
});
afterAll(() => void vi.unstubAllEnvs());

const NODE_22 = join(INSTALLED, "node/node_modules/node/bin");
const SECRET = "a-key-that-must-not-be-shown";

interface Performance {
  readonly platform: string;
  readonly sandbox: SandboxProvider | "none";
  readonly step?: Partial<AgentStep>;
  /** The content of `.sanddune/.env`. */
  readonly env?: Readonly<Record<string, string>>;
  /** More files of the suite. */
  readonly files?: Readonly<Record<string, string>>;
  readonly flags?: AgentFlags;
  /** A line for the sandbox's shell, before the agent starts. */
  readonly before?: string;
  readonly baseUrl?: string;
}

const line = ([name, value]: [string, string]): string => `${name}='${value}'`;

/** Lets an agent do one step in a project. */
const perform = async (performance: Performance) => {
  const { platform, sandbox, env = {}, flags = {}, before = "true", baseUrl } = performance;
  const envFile = Object.entries(env).map(line).join("\n");
  const scene: Scene = await scenarioScene(sandbox, { ".sanddune/.env": envFile, ...performance.files });
  const { suite, signal, scenarioSandbox, projectPath } = scene;
  const step: AgentStep = { agent: "install", prompt: "Write the files.", ...performance.step };
  const spec = { runnable: "agent", ide_platform: platform, steps: [step] } as const;

  const setup = await prepareAgent(spec, { ...agentOptionsOf(flags, {}), suite, sandbox, signal });
  if ("manual" in setup) throw new Error(setup.manual);
  const openForAgent: typeof scenarioSandbox.openForAgent = async (opening) => {
    const place = await scenarioSandbox.openForAgent(opening);
    await place.handle.exec(before);
    return place;
  };
  const result = await new AgentTraces(projectPath).watch(() =>
    performAgentStep(step, {
      ...{ setup, suite, signal, baseUrl, usesMirror: baseUrl !== undefined },
      scenarioSandbox: { ...scenarioSandbox, openForAgent },
    }),
  );
  return { setup, result, projectPath };
};

/** How a real agent is made to talk to a scripted model. */
const offline = (name: OfflineAgentName, url: string): Pick<Performance, "env" | "flags" | "before"> => {
  const agent = offlineAgent(name, url);
  return {
    env: { PATH: AGENT_PATH, ...agent.env, OTHER_KEY: SECRET },
    flags: { model: agent.model },
    before: writeAgentFiles(agent),
  };
};

const WRITING = [
  { text: "On it.", calls: [{ shell: `echo hello > hello.txt; echo ${SECRET}` }] },
  { text: `All done, with ${SECRET}.` },
] as const satisfies readonly Turn[];

const REAL: readonly [OfflineAgentName, Runtime, SandboxName][] = [
  ["claude", "claude code", "bubblewrap"],
  ["claude", "claude code", "docker"],
  ["codex", "codex", "bubblewrap"],
  ["pi", "pi", "bubblewrap"],
];

describeSideBySide("an agent of a scenario", () => {
  for (const [agent, runtime, sandbox] of REAL) {
    describeWith([runtime, sandbox], `the real ${agent} in ${sandbox}`, () => {
      it(
        "does a step: its files are in the project, its tool calls and its text in the result, without secrets",
        PATIENCE,
        async () => {
          const model = await scriptedModel(WRITING);
          const { result, projectPath } = await perform({
            ...{ platform: agent, sandbox: SANDBOXES[sandbox](), baseUrl: "http://127.0.0.1:9" },
            ...offline(agent, model.url),
          });
          expect(result).toMatchObject({ code: 0, stderr: "" });
          expect(result.manual).toBeUndefined();
          expect(readFileSync(join(projectPath, "hello.txt"), "utf8")).toBe("hello\n");
          expect(result.tool_edits).toEqual([{ name: expect.any(String), status: "completed" }]);
          expect(result.usage?.outputTokens).toBeGreaterThan(0);
          expect(result.stdout).toContain("On it.");
          expect(result.stdout).toContain("All done, with [redacted OTHER_KEY].");
          expect(JSON.stringify(result)).not.toContain(SECRET);
          expect(turnsOf(model)[0]).toContain("Write the files.");
          expect(turnsOf(model)[0]).toContain("fetch source files from http://127.0.0.1:9 instead");
        },
      );
    });
  }

  describeWith(["claude code", "bubblewrap"], "an agent that is not let in", () => {
    it(
      "is unavailable: the reason says what the model said, and which keys there are",
      PATIENCE,
      async () => {
        const model = await scriptedModel([{ error: 401, message: "invalid x-api-key", times: 20 }]);
        const { result } = await perform({
          ...{ platform: "claude", sandbox: SANDBOXES.bubblewrap() },
          ...offline("claude", model.url),
        });
        expect(result.code).toBe(0);
        expect(result.manual).toMatch(/Invalid API key/);
        expect(result.manual).toMatch(/one of these env vars: ANTHROPIC_API_KEY/);
      },
    );

    it("is unavailable if the model's servers cannot be reached", PATIENCE, async () => {
      const { result } = await perform({
        ...{ platform: "claude", sandbox: SANDBOXES.bubblewrap() },
        ...offline("claude", "http://127.0.0.1:9"),
      });
      expect(result.manual).toMatch(/cannot reach its model: .*\[ModelUnreachableError, retryable\]$/s);
    });
  });

  describeWith(["bubblewrap"], "an agent that is missing", () => {
    it("is unavailable", async () => {
      const env = { ANTHROPIC_API_KEY: SECRET, PATH: "/usr/bin:/bin" };
      const { result } = await perform({ platform: "claude", sandbox: bubblewrap(), env });
      expect(result.manual).toMatch(/there is no "claude" in the sandbox/);
    });
  });

  describe("an agent", () => {
    it("without a key is unavailable, and nothing is started", async () => {
      const performed = perform({ platform: "claude", sandbox: testIsolated(), before: "exit 1" });
      await expect(performed).rejects.toThrow(/ANTHROPIC_API_KEY or .*export ANTHROPIC_API_KEY=…$/);
    });

    it("is unavailable if no sandbox was chosen", async () => {
      const { suite, signal } = await scenarioScene("none");
      const options = { suite, sandbox: undefined, signal };
      const setup = await prepareAgent({ runnable: "agent", steps: [{ agent: "install" }] }, options);
      expect(setup).toMatchObject({ provider: "cursor", manual: expect.stringContaining("--sandbox none") });
    });

    it("has the models of its steps, unless the command line names one for all", async () => {
      const { suite, signal } = await scenarioScene("none");
      const steps = [{ agent: "install", model: "one" }, { agent: "sync" }, { agent: "boot", model: "one" }];
      const modelFor = async (flags: AgentFlags, env: NodeJS.ProcessEnv) => {
        const options = { ...agentOptionsOf(flags, env), suite, sandbox: "none", signal } as const;
        return (await prepareAgent({ runnable: "agent", ide_platform: "pi", steps }, options)).model;
      };
      expect(await modelFor({}, { SANDDUNE_AGENT_MODEL: "usual" })).toBe("one, usual");
      expect(await modelFor({ model: "all" }, {})).toBe("all");
    });

    it("does not work for a suite whose env file is in git", async () => {
      const { suite, signal } = await scenarioScene("none", { ".sanddune/.env": "A=b" });
      git(suite.root, "init", "--quiet");
      git(suite.root, "add", "--force", ".");
      const options = { suite, sandbox: "none", signal } as const;
      await expect(prepareAgent({ runnable: "agent" }, options)).rejects.toBeInstanceOf(InvalidOptionsError);
    });

    const commandAgent = (script: string, timeoutMs?: number) =>
      perform({
        ...{ platform: "claude", sandbox: testIsolated(), flags: { agent: "command", agentCommand: script } },
        ...(timeoutMs !== undefined && { step: { timeout_ms: timeoutMs } }),
      });

    it("that takes too long is stopped: 124, what it did is kept, and no process is left", async () => {
      const mark = `scenario-${process.pid}-${Date.now()}`;
      const { result, projectPath } = await commandAgent(
        `echo begun; echo x >begun; sh -c 'trap "" TERM; while :; do sleep 1; done' ${mark}`,
        2000,
      );
      expect(result).toMatchObject({
        code: 124,
        stdout: "begun\n",
        stderr: expect.stringContaining("2000 ms"),
      });
      expect(result.manual).toBeUndefined();
      expect(existsSync(join(projectPath, "begun"))).toBe(true);
      expect(processesWith(mark)).toEqual([]);
    });

    it("that fails has its own exit code, and is no reason to do it by hand", async () => {
      const { result } = await commandAgent("echo no idea >&2; exit 3");
      expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining("no idea") });
      expect(result.manual).toBeUndefined();
    });

    it("that is stopped by an abort rejects with the very reason, and leaves no process", async () => {
      const sandbox = testIsolated();
      const scene = await scenarioScene(sandbox);
      const mark = `scenario-abort-${process.pid}-${Date.now()}`;
      const controller = new AbortController();
      const agentOptions = agentOptionsOf(
        { agent: "command", agentCommand: `sh -c 'while :; do sleep 1; done' ${mark}` },
        {},
      );
      const options = { ...agentOptions, suite: scene.suite, sandbox, signal: controller.signal };
      const step = { agent: "install" };
      const setup = await prepareAgent({ runnable: "agent", steps: [step] }, options);
      if ("manual" in setup) throw new Error(setup.manual);
      const { scenarioSandbox, suite } = scene;
      const context = {
        setup,
        scenarioSandbox,
        suite,
        baseUrl: undefined,
        usesMirror: false,
        signal: controller.signal,
      };
      const performed = performAgentStep(step, context).catch((reason: unknown) => reason);
      await waitFor(() => processesWith(mark).length > 0);
      const reason = new Error("enough");
      controller.abort(reason);
      expect(await performed).toBe(reason);
      expect(processesWith(mark)).toEqual([]);
    });
  });
});

/** Stands for Cursor's servers, and always answers with the same status. */
const cursorServer = async (status: number): Promise<string> => {
  const server = createServer((_, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: `scripted error ${status}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** For one test, of those that run alone. */
const set = (name: string, value: string | undefined): void => {
  const former = process.env[name];
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.stubEnv(name, former));
};

describeWith(["cursor sdk", "node 22"], "Cursor's real SDK on the host", () => {
  const cursorOnHost = async (env: Readonly<Record<string, string>>, sdk: string | undefined) => {
    set("PATH", `${NODE_22}:/usr/bin:/bin`);
    set("NODE_PATH", undefined);
    set("CURSOR_SDK", sdk);
    return perform({ platform: "cursor", sandbox: "none", env });
  };
  const SDK = join(INSTALLED, "cursor/node_modules/@cursor/sdk");

  it.each([
    [
      401,
      /failed: \w*AuthenticationError: .*status 401.*not retryable.*one of these env vars: CURSOR_API_KEY/s,
    ],
    [404, /cannot be used as it is set up: \w+Error: .*\[AgentUnavailableError, not retryable\]$/s],
  ])("whose servers answer with %d is unavailable", async (status, reason) => {
    const env = { CURSOR_API_KEY: SECRET, CURSOR_BACKEND_URL: await cursorServer(status) };
    const { result } = await cursorOnHost(env, SDK);
    expect(result.manual).toMatch(reason);
    expect(result.manual).not.toContain(SECRET);
  });

  it("without a key is unavailable", async () => {
    const { result } = await cursorOnHost({}, SDK);
    expect(result.manual).toContain("CURSOR_API_KEY is not set");
  });

  it("that is not installed is unavailable", async () => {
    const { result } = await cursorOnHost({ CURSOR_API_KEY: SECRET }, undefined);
    expect(result.manual).toMatch(
      /no "cursor-agent" on this machine\. .*npm install @cursor\/sdk \[AgentNotFoundError, not retryable\]$/,
    );
  });
});

/** Stands for the SDK, which cannot be scripted as a whole: it says what the real one is documented to say. */
const standInSdk = (status: string): Readonly<Record<string, string>> => ({
  "node_modules/@cursor/sdk/package.json": JSON.stringify({ type: "module", module: "sdk.js" }),
  "node_modules/@cursor/sdk/sdk.js": `
    const call = (call_id, name, status) => ({ type: "tool_call", agent_id: "a-1", call_id, name, status, args: {} });
    const run = {
      async *stream() {
        yield call("1", "edit", "running");
        yield call("1", "edit", "completed");
        yield call("2", "shell", "error");
        yield call("3", "read", "running");
      },
      wait: async () => ({ status: ${JSON.stringify(status)}, error: { message: "that did not work" } }),
    };
    const create = async ({ local }) => {
      if (local.settingSources.join() !== "project") throw new Error("Settings of the user do not belong here.");
      return { send: async () => run };
    };
    export const Agent = { create };`,
});

describeWith(["node 22"], "a stand-in for Cursor's SDK, as a package of the suite", () => {
  it.each([
    ["finished", 0],
    ["error", 1],
    ["cancelled", 124],
  ])(
    "whose run ends as %s gives the exit code %d, and its tool calls with how they ended",
    async (status, code) => {
      set("PATH", `${NODE_22}:/usr/bin:/bin`);
      const { result } = await perform({
        ...{
          platform: "cursor",
          sandbox: "none",
          env: { CURSOR_API_KEY: SECRET },
          files: standInSdk(status),
        },
      });
      expect(result).toMatchObject({ code });
      expect(result.manual).toBeUndefined();
      expect(result.tool_edits).toEqual([
        { name: "edit", status: "completed" },
        { name: "shell", status: "error" },
      ]);
    },
  );
});
