import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createSandbox, type McpServers, pi, type SandboxRunOptions } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { processesWith } from "../cli/fixtures.ts";
import { AGENT_PATH, agentMount, offlineAgent, writeAgentFiles } from "../helpers/agents.ts";
import type { ModelServer } from "../helpers/modelServer/server.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import { listening, scriptedModel, temporaryHome, turnsOf } from "./realAgents.ts";

const FIXTURES = join(import.meta.dirname, "fixtures");
const IN_SANDBOX = "/opt/fixtures";
const MOUNTS = [agentMount(), { hostPath: FIXTURES, sandboxPath: IN_SANDBOX, readOnly: true }];
const DONE = { text: "<promise>COMPLETE</promise>" };

const SANDBOXES = {
  bubblewrap: () => bubblewrap({ network: true, path: AGENT_PATH, mounts: MOUNTS }),
  docker: () => docker({ image: TEST_IMAGE, network: "host", mounts: MOUNTS }),
} as const;

/** Stands on the command lines of the servers. */
const markOf = (name: string) => `mark-${process.pid}-${name}`;

const server = (tool: string, ...flags: string[]): McpServers[string] => ({
  command: "node22",
  args: [`${IN_SANDBOX}/mcpServer.mjs`, tool, ...flags],
  env: { GREETER: "Ada" },
});

/** A sandbox that lasts as long as the test, in which pi speaks to the model. */
const open = async (name: keyof typeof SANDBOXES, model: ModelServer) => {
  temporaryHome();
  const offline = offlineAgent("pi", model.url);
  const cwd = temporaryRepository();
  const env = { PATH: AGENT_PATH, ...offline.env };
  const sandbox = await createSandbox({
    sandbox: SANDBOXES[name](),
    branch: "agent/work",
    cwd,
    env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, { public: value }])),
    hooks: { sandbox: { onSandboxReady: [{ command: writeAgentFiles(offline) }] } },
  });
  onTestFinished(async () => void (await sandbox.close()));
  const work = (options: Pick<SandboxRunOptions, "logging" | "mcpServers" | "signal">) =>
    sandbox.run({ agent: pi(offline.model), prompt: "Greet the world.", ...options });
  return { cwd, sandbox, work };
};

for (const name of ["bubblewrap", "docker"] as const) {
  describeWith(["pi", name], `MCP servers of the real pi, in ${name}`, () => {
    it("are there for one run, end with it, and leave nothing in the repository", async () => {
      const greet = { calls: [{ name: "lines_greet", input: { name: "Bob" } }] };
      const model = await scriptedModel([greet, DONE, DONE]);
      const { sandbox, work } = await open(name, model);
      const { events, logging } = listening();
      const broken = { command: "node22", args: ["--eval", "console.error('no key'); process.exit(7)"] };
      const result = await work({ mcpServers: { lines: server("greet", markOf(name)), broken }, logging });
      expect(result.completionSignal).toBe("<promise>COMPLETE</promise>");
      expect(result.warnings).toEqual([]);
      expect(result.commits).toEqual([]);
      expect(events).toContainEqual(
        expect.objectContaining({ type: "toolResult", output: "Ada: greet Bob" }),
      );
      expect(events.filter((event) => event.type === "raw")).toMatchObject([
        {
          stream: "stderr",
          line: "sanddune: the MCP server broken cannot be used: it has ended with exit code 7: no key",
        },
      ]);
      expect(processesWith(markOf(name))).toEqual([]);
      expect((await sandbox.exec("git status --porcelain --ignored")).stdout).toBe("");
      await work({});
      expect(turnsOf(model).at(-1)).not.toContain("lines_greet");
    });

    it("end when the run is aborted in the middle of a tool call", async () => {
      const model = await scriptedModel([{ calls: [{ name: "lines_wait", input: { name: "Bob" } }] }]);
      const { work, cwd } = await open(name, model);
      const controller = new AbortController();
      const { events, logging } = listening();
      const running = work({
        mcpServers: { lines: server("wait", "--silent", markOf(name)) },
        signal: controller.signal,
        logging,
      }).catch((reason: unknown) => reason);
      await waitFor(() => events.some(({ type }) => type === "toolCall"));
      expect(processesWith(markOf(name))).not.toEqual([]);
      controller.abort("enough");
      expect(await running).toBe("enough");
      await waitFor(() => processesWith(markOf(name)).length === 0, 5000);
      expect(git(cwd, "log", "--format=%s", "HEAD..agent/work")).toBe("");
    });
  });
}
