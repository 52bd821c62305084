import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { AgentNotFoundError, type McpServers } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { processesWith } from "../cli/fixtures.ts";
import { leftovers } from "../helpers/leftovers.ts";
import type { Turn } from "../helpers/modelServer/script.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";
import { failureOf } from "../security/support.ts";
import {
  COMMITTING,
  listening,
  runReal,
  type SandboxName,
  scriptedModel,
  temporaryHome,
  turnsOf,
} from "./realAgents.ts";

export type OtherAgentName = "copilot" | "gemini";

/** Each of these programs takes seconds to begin, more where others are busy. */
const PATIENCE = { timeout: 180_000 };

/** How a run fails whose model plays these turns, and where. */
export const failureWith = async (agent: OtherAgentName, sandbox: SandboxName, turns: readonly Turn[]) => {
  temporaryHome();
  const cwd = temporaryRepository();
  const model = await scriptedModel(turns);
  const error = await failureOf(runReal({ agent, sandbox, model, cwd }));
  expect(leftovers(cwd)).toEqual([]);
  return { error, cwd };
};

/** What holds for the real program of every agent. */
export const itWorks = (agent: OtherAgentName, sandbox: SandboxName, usage: number | undefined): void => {
  it(
    "creates a file, commits it and says the signal; its session is gone on with, and copied",
    PATIENCE,
    async () => {
      const home = temporaryHome();
      const cwd = temporaryRepository();
      const model = await scriptedModel([...COMMITTING, { text: "I remember. <promise>COMPLETE</promise>" }]);
      const { events, logging } = listening();
      const first = await runReal({ agent, sandbox, model, cwd, options: { logging } });
      expect(first.warnings).toEqual([]);
      expect(first.commits).toHaveLength(1);
      expect(git(cwd, "show", "agent/work:hello.txt")).toBe("hello");
      expect(first.completionSignal).toBe("<promise>COMPLETE</promise>");
      expect(first.stdout).toContain("On it.\n");
      expect(events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(["sessionId", "text", "toolCall", "toolResult", "result"]),
      );
      expect(events.filter((event) => event.type === "raw" && event.stream === "stdout")).toEqual([]);
      const [{ sessionId, sessionFilePath = "", ...iteration } = {}] = first.iterations;
      expect(iteration.usage?.outputTokens).toBe(usage);
      expect(sessionFilePath.startsWith(home)).toBe(true);
      expect(readFileSync(sessionFilePath, "utf8")).toContain(cwd);

      const second = await first.resume("What did you do?");
      expect(second.warnings).toEqual([]);
      expect(second.iterations[0]).toMatchObject({ sessionId, sessionFilePath });
      expect(second.stdout).toContain("I remember.");
      expect(turnsOf(model).at(-1)).toContain("Greet the world, and commit.");
      expect(turnsOf(model).at(-1)).not.toContain(cwd);
      expect(readFileSync(sessionFilePath, "utf8")).toContain("What did you do?");

      const third = await second.fork("And in a copy?");
      expect(third.warnings).toEqual([]);
      expect(third.iterations[0]?.sessionId).not.toBe(sessionId);
      expect(turnsOf(model).at(-1)).toContain("What did you do?");
      expect(readFileSync(third.iterations[0]?.sessionFilePath ?? "", "utf8")).toContain("And in a copy?");
      expect(readFileSync(sessionFilePath, "utf8")).not.toContain("And in a copy?");
      expect(leftovers(cwd)).toEqual([]);
    },
  );

  it("that is aborted in the middle of a tool call leaves no process behind", PATIENCE, async () => {
    temporaryHome();
    const cwd = temporaryRepository();
    const mark = `mark-${process.pid}-${agent}-${sandbox}`;
    const model = await scriptedModel([{ text: "Wait.", calls: [{ shell: `sleep 1000; : ${mark}` }] }]);
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const running = runReal({ agent, sandbox, model, cwd, options }).catch((reason: unknown) => reason);
    await waitFor(() => processesWith(mark).length > 0, 60_000);
    controller.abort("enough");
    expect(await running).toBe("enough");
    await waitFor(() => processesWith(mark).length === 0, 5000);
  });
};

const SERVER = `
import { createInterface } from "node:readline";
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "greeter", version: "1.0.0" },
  }),
  "tools/list": () => ({
    tools: [{ name: "greet", description: "Greets", inputSchema: { type: "object", properties: {} } }],
  }),
  "tools/call": () => ({ content: [{ type: "text", text: "greetings from " + process.env.PLANET }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.(params ?? {}) ?? {};
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
}
`;

/** A server with a tool, which runs in the sandbox. */
const MCP_SERVERS: McpServers = {
  greeter: { command: "node22", args: ["--input-type=module", "--eval", SERVER], env: { PLANET: "Mars" } },
};

export const itHasMcpServers = (agent: OtherAgentName, tool: string): void => {
  it("has the tools of other servers", async () => {
    temporaryHome();
    const cwd = temporaryRepository();
    const model = await scriptedModel([
      { calls: [{ name: tool, input: {} }] },
      { text: "<promise>COMPLETE</promise>" },
    ]);
    const { events, logging } = listening();
    await runReal({
      agent,
      sandbox: "bubblewrap",
      model,
      cwd,
      options: { logging, mcpServers: MCP_SERVERS },
    });
    expect(events).toContainEqual(expect.objectContaining({ type: "toolCall", name: tool }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: "toolResult", output: expect.stringContaining("greetings from Mars") }),
    );
  });
};

export const itIsMissed = (agent: OtherAgentName): void => {
  it("is missed by its name where it is not installed", async () => {
    temporaryHome();
    const cwd = temporaryRepository();
    const model = await scriptedModel(COMMITTING);
    const options = { sandbox: bubblewrap(), env: {} };
    const error = await failureOf(runReal({ agent, sandbox: "bubblewrap", model, cwd, options }));
    expect(error).toBeInstanceOf(AgentNotFoundError);
    expect(error).toMatchObject({ program: agent });
  });
};
