import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { AgentProgram } from "../../../src/agents/contract.ts";
import { gemini } from "../../../src/agents/gemini/provider.ts";
import { geminiProject } from "../../../src/agents/gemini/sessions.ts";
import {
  addedArguments,
  commandOf,
  describeCommands,
  interactionOf,
} from "../../helpers/agents/agentCommands.ts";
import { pinnedPackage } from "../../helpers/agents/agents.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const agent = gemini("gemini-3-pro");

/** What is in the file that is written before the program begins. */
const settingsOf = ({ setup = "", env: own }: AgentProgram, env: NodeJS.ProcessEnv = {}): unknown => {
  const line = `${setup}\ncat -- "$GEMINI_CLI_SYSTEM_DEFAULTS_PATH"`;
  const HOME = temporaryDirectory();
  return JSON.parse(
    execFileSync("sh", ["-c", line], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME, ...own, ...env },
    }),
  );
};

describeCommands(gemini, (prompt) => `--prompt-interactive=${prompt}`);

describe("the command of Gemini CLI", () => {
  it("prints its events, and asks nothing", () => {
    expect(commandOf(agent)).toEqual({
      command: ["gemini", "--output-format", "stream-json", "--yolo", "--skip-trust", "-m", "gemini-3-pro"],
      stdin: "Do it",
      setup: expect.any(String),
      env: expect.any(Object),
    });
  });

  it.each([false, true])("continues a session, whether or not sanddune has copied it: %s", (isFork) => {
    const resume = { sessionId: "s-1", isFork };
    expect(addedArguments(agent, { resume })).toEqual(["--resume", "s-1"]);
  });

  it.each([
    [{}, "gemini-api-key"],
    [{ GOOGLE_GENAI_USE_VERTEXAI: "true" }, "vertex-ai"],
  ])("says how to authenticate, by the env vars: %j", (env, selectedType) => {
    expect(settingsOf(commandOf(agent), env)).toMatchObject({ security: { auth: { selectedType } } });
    expect(settingsOf(interactionOf(agent, "Do it", true), env)).toMatchObject({
      security: { auth: { selectedType } },
    });
  });

  it("has MCP servers", () => {
    const program = commandOf(agent, {
      mcpServers: {
        local: { command: "tool's", args: ["-x"], env: { A: "%s \\n" } },
        remote: { url: "http://tools", headers: { A: "b" } },
      },
    });
    const { command, setup } = commandOf(agent);
    expect(program).toMatchObject({ command, setup });
    expect(settingsOf(program)).toMatchObject({
      mcpServers: {
        local: { command: "tool's", args: ["-x"], env: { A: "%s \\n" }, trust: true },
        remote: { httpUrl: "http://tools", headers: { A: "b" }, trust: true },
      },
    });
  });

  it("is installed in the version of the tests", () => {
    expect(agent.installation?.dockerfile).toEqual([`RUN npm install --global ${pinnedPackage("gemini")}`]);
  });
});

describe("the terminal interface of Gemini CLI", () => {
  it("asks nothing in a sandbox", () => {
    expect(interactionOf(agent, "Do it", true)).toEqual({
      command: ["gemini", "--yolo", "--skip-trust", "-m", "gemini-3-pro", "--prompt-interactive=Do it"],
      setup: expect.any(String),
      env: expect.any(Object),
    });
  });

  it("asks on the host", () => {
    expect(interactionOf(agent, undefined, false)).toEqual({ command: ["gemini", "-m", "gemini-3-pro"] });
  });
});

describe("the directory of Gemini CLI's sessions", () => {
  it.each([
    ["/workspace/repo", "repo"],
    ["/home/me/My App_2.0", "my-app-2-0"],
    ["/home/me/--x--", "x"],
    ["/home/me/ä", "project"],
    ["/", "project"],
  ])("is named after the last part of %s", (cwd, name) => {
    expect(geminiProject(cwd)).toBe(name);
  });

  it("is another one where the agent works elsewhere", () => {
    const file = "tmp/repo/chats/session-2026-11-16T07-00-0cb916db.jsonl";
    expect(agent.sessions?.place(file, "/home/me/My App")).toBe(
      "tmp/my-app/chats/session-2026-11-16T07-00-0cb916db.jsonl",
    );
  });

  it("has a file with the beginning of the session's id", () => {
    expect(agent.sessions?.files("0cb916db-26aa-40f2-86b5-1ba81b225fd2")).toEqual([
      "tmp/*/chats/session-*-0cb916db.jsonl",
    ]);
  });
});
