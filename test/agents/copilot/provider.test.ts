import { describe, expect, it } from "vitest";
import type { AgentIteration } from "../../../src/agents/contract.ts";
import { copilot } from "../../../src/agents/copilot/provider.ts";
import { commandOf, describeCommands, interactionOf } from "../../helpers/agents/agentCommands.ts";
import { runAgentLine } from "../../helpers/agents/agentLines.ts";
import { pinnedPackage } from "../../helpers/agents/agents.ts";

const agent = copilot("gpt-5.4");
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ARGUMENTS = [
  ...["--output-format", "json", "--allow-all", "--no-ask-user", "--no-color", "--no-auto-update"],
  ...["--model", "gpt-5.4"],
];

describeCommands(copilot, (prompt) => `--interactive=${prompt}`);

/** What a program called copilot is given, and what is printed before it begins. */
const started = (iteration: Partial<AgentIteration> = {}) => {
  const { stdout, programs } = runAgentLine(commandOf(agent, iteration), "copilot");
  const [{ args = [], stdin = "", files = {} } = {}] = programs;
  return { session: JSON.parse(stdout).sessionId as string, args, stdin, files };
};

describe("the command of Copilot CLI", () => {
  it("prints its events, asks nothing, and prints the id of its session first", () => {
    const { session, args, stdin } = started();
    expect(session).toMatch(UUID);
    expect(args).toEqual([...ARGUMENTS, "--session-id", session]);
    expect(stdin).toBe("Do it");
  });

  it("gives every session its own id", () => {
    expect(started().session).not.toBe(started().session);
  });

  it.each([false, true])("continues a session, whether or not sanddune has copied it: %s", (isFork) => {
    const { session, args } = started({ resume: { sessionId: "s-1", isFork } });
    expect(session).toBe("s-1");
    expect(args).toEqual([...ARGUMENTS, "--resume", "s-1"]);
  });

  it("has MCP servers", () => {
    const { args, files } = started({
      mcpServers: {
        local: { command: "tool's", env: { A: "b" } },
        remote: { url: "http://tools", headers: { A: "b" } },
      },
    });
    const file = args[args.indexOf("--additional-mcp-config") + 1] ?? "";
    expect(JSON.parse(files[file.replace(/^@/, "")] ?? "")).toEqual({
      mcpServers: {
        local: { type: "local", tools: ["*"], args: [], command: "tool's", env: { A: "b" } },
        remote: { type: "http", tools: ["*"], url: "http://tools", headers: { A: "b" } },
      },
    });
  });

  it("is installed in the version of the tests", () => {
    expect(agent.installation?.dockerfile).toEqual([`RUN npm install --global ${pinnedPackage("copilot")}`]);
  });

  it("does not claim to report usage", () => {
    expect(agent).not.toHaveProperty("reportsUsage");
  });
});

describe("the terminal interface of Copilot CLI", () => {
  it("asks nothing in a sandbox, not even whether to trust the directory", () => {
    expect(interactionOf(agent, "Do it", true)).toEqual({
      command: ["copilot", "--allow-all", "--model", "gpt-5.4", "--interactive=Do it"],
      env: { COPILOT_ALLOW_ALL: "true" },
    });
  });

  it("asks on the host", () => {
    expect(interactionOf(agent, undefined, false)).toEqual({ command: ["copilot", "--model", "gpt-5.4"] });
  });
});

it("the session of Copilot CLI has its name, wherever the agent works", () => {
  const [file = ""] = agent.sessions?.files("s-1") ?? [];
  expect(file).toBe("session-state/s-1/events.jsonl");
  expect(agent.sessions?.place(file, "/home/me/repo")).toBe(file);
});
