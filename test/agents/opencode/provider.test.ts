import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { opencode } from "../../../src/agents/opencode/provider.ts";
import { commandLineOf } from "../../../src/engine/agent/agentCommand.ts";
import {
  addedArguments,
  commandOf,
  describeCommands,
  interactionOf,
  MCP_SERVERS,
} from "../../helpers/agents/agentCommands.ts";

const agent = opencode("anthropic/claude-opus-4-8");

describeCommands(opencode, (prompt) => `--prompt=${prompt}`);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sanddune-opencode "));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Runs a line of shell in which `opencode` is a function that prints. */
const sh = (line: string, body: string, env: Record<string, string> = {}): string =>
  execFileSync("sh", ["-euc", `opencode() { ${body}; }\n${line}`], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: directory, ...env },
  });

describe("the command of opencode", () => {
  it("prints its events and, on stderr, why it retries, and asks nothing", () => {
    expect(commandOf(agent)).toEqual({
      command: [
        ...["opencode", "run", "--format", "json", "--auto", "-m", "anthropic/claude-opus-4-8"],
        ...["--print-logs", "--log-level", "ERROR"],
      ],
      stdin: "Do it",
      env: expect.objectContaining({ OPENCODE_DISABLE_AUTOUPDATE: "1" }),
    });
  });

  it("continues a session", () => {
    expect(addedArguments(agent, { resume: { sessionId: "ses_1", isFork: false } })).toEqual(["-s", "ses_1"]);
  });

  it("continues in a copy of a session", () => {
    expect(addedArguments(agent, { resume: { sessionId: "ses_1", isFork: true } })).toEqual([
      ...["-s", "ses_1", "--fork"],
    ]);
  });

  it("has MCP servers in a configuration file of its own", () => {
    const program = commandOf(agent, { mcpServers: MCP_SERVERS });
    const configuration = sh(commandLineOf(program), 'cat -- "$OPENCODE_CONFIG"', { ...program.env });
    const { command, args, env } = MCP_SERVERS.local;
    expect(JSON.parse(configuration)).toEqual({
      mcp: {
        local: { type: "local", enabled: true, command: [command, ...args], environment: env },
        remote: { type: "remote", enabled: true, ...MCP_SERVERS.remote },
      },
    });
  });
});

describe("the env vars of opencode", () => {
  it.each([
    ["anthropic/claude-opus-4-8", ["ANTHROPIC_API_KEY"]],
    ["openrouter/anthropic/claude", ["OPENROUTER_API_KEY"]],
    ["mine/model", []],
    ["constructor/model", []],
    ["model", []],
  ])("are those of the provider of %s", (model, keys) => {
    expect(Object.keys(opencode(model).env ?? {})).toEqual(keys);
  });
});

describe("the terminal interface of opencode", () => {
  it("in a sandbox asks for no permission", () => {
    expect(interactionOf(agent, "Do it", true)).toMatchObject({
      command: ["opencode", "--auto", "-m", "anthropic/claude-opus-4-8", "--prompt=Do it"],
    });
  });

  it("on the host asks the person", () => {
    expect(interactionOf(agent, "Do it", false)).toEqual({
      command: ["opencode", "-m", "anthropic/claude-opus-4-8", "--prompt=Do it"],
    });
  });
});

describe("a session of opencode's", () => {
  const EXPORTED = "opencode/sanddune/ses_1.json";
  const PRINT = "printf '%s|' \"$@\"";

  it.each([
    ["below the home directory", ".local/share", {}],
    ["where the environment says", "data", { XDG_DATA_HOME: "data" }],
  ])("is exported to a file, %s", (_, place, { XDG_DATA_HOME }: { XDG_DATA_HOME?: string }) => {
    const env = { ...(XDG_DATA_HOME !== undefined && { XDG_DATA_HOME: join(directory, XDG_DATA_HOME) }) };
    expect(sh(agent.sessions?.exportCommand?.("ses_1") ?? "", PRINT, env)).toBe("");
    expect(readFileSync(join(directory, place, EXPORTED), "utf8")).toBe("export|ses_1|");
    expect(agent.sessions?.files("ses_1")).toEqual([EXPORTED]);
  });

  it("is imported from that file", () => {
    expect(sh(agent.sessions?.importCommand?.("ses_1") ?? "", PRINT)).toBe(
      `import|${join(directory, ".local/share", EXPORTED)}|`,
    );
  });

  it("is not exported when opencode fails", () => {
    expect(() => sh(agent.sessions?.exportCommand?.("ses_1") ?? "", "return 1")).toThrow();
  });
});
