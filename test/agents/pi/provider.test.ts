import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import mcpExtension from "../../../src/agents/pi/programs/mcpExtension.ts?text";
import { pi } from "../../../src/agents/pi/provider.ts";
import { piProject } from "../../../src/agents/pi/sessions.ts";
import { commandLineOf } from "../../../src/engine/agent/agentCommand.ts";
import {
  addedArguments,
  commandOf,
  describeCommands,
  interactionOf,
  MCP_SERVERS,
  refusedOption,
} from "../../helpers/agents/agentCommands.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const agent = pi("anthropic/claude-opus-4-8");

// A word that begins with an at sign would be a file.
describeCommands(pi, (prompt) => (prompt.startsWith("@") ? ` ${prompt}` : prompt));

describe("the command of pi", () => {
  it("prints its events", () => {
    expect(commandOf(agent)).toEqual({
      command: ["pi", "-p", "--mode", "json", "--model", "anthropic/claude-opus-4-8"],
      stdin: "Do it",
      env: expect.objectContaining({ PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" }),
    });
  });

  it.each(["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const)(
    "asks for the thinking level %s",
    (thinking) => {
      expect(commandOf(pi("a/b", { thinking })).command.slice(-2)).toEqual(["--thinking", thinking]);
    },
  );

  it.each(["none", "", true, 1, null])("refuses the thinking level %j", (thinking) => {
    expect(refusedOption(() => pi("a/b", { thinking: thinking as "off" }))).toBe("thinking");
  });

  it("continues a session", () => {
    expect(addedArguments(agent, { resume: { sessionId: "s-1", isFork: false } })).toEqual([
      "--session",
      "s-1",
    ]);
  });

  it("continues in a copy of a session", () => {
    expect(addedArguments(agent, { resume: { sessionId: "s-1", isFork: true } })).toEqual(["--fork", "s-1"]);
  });

  it("has MCP servers by an extension, which is a file of the home directory like their settings", () => {
    const resume = { sessionId: "s-1", isFork: false };
    const command = commandOf(agent, { resume, mcpServers: MCP_SERVERS });
    const directory = temporaryDirectory();
    const repository = join(directory, "repository");
    mkdirSync(repository);
    writeFileSync(
      join(directory, "pi"),
      `#!/bin/sh\nprintf '%s\\0' "$SANDDUNE_MCP_FILE" "$SANDDUNE_MCP_CONFIG" "$@"\n`,
    );
    chmodSync(join(directory, "pi"), 0o755);
    const printed = execFileSync("sh", ["-c", commandLineOf(command)], {
      cwd: repository,
      encoding: "utf8",
      env: { ...command.env, HOME: directory, PATH: `${directory}:${process.env["PATH"]}` },
    });
    const [serversFile = "", ...rest] = printed.split("\0").slice(0, -1);
    const extension = join(directory, ".sanddune-pi-mcp.mjs");
    expect(rest).toEqual([
      "",
      ...[...commandOf(agent, { resume }).command].slice(1),
      "--extension",
      extension,
    ]);
    expect(JSON.parse(readFileSync(serversFile, "utf8"))).toEqual(MCP_SERVERS);
    expect(readFileSync(extension, "utf8")).toBe(mcpExtension);
    for (const file of [serversFile, extension]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(repository)).toEqual([]);
  });
});

describe("the env vars of pi", () => {
  it.each([
    ["anthropic/claude-opus-4-8", ["ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN"]],
    ["openai/gpt-6", ["OPENAI_API_KEY"]],
    ["mine/model", []],
  ])("are those of the provider of %s", (model, keys) => {
    expect(Object.keys(pi(model).env ?? {})).toEqual(keys);
  });
});

describe("the terminal interface of pi", () => {
  it.each([true, false])("is the same in a sandbox and on the host: it asks nothing (%s)", (skips) => {
    expect(interactionOf(pi("a/b", { thinking: "low" }), "Do it", skips)).toEqual({
      command: ["pi", "--model", "a/b", "--thinking", "low", "--", "Do it"],
    });
  });
});

describe("the directory of pi's sessions", () => {
  it.each([
    ["/workspace/repo", "--workspace-repo--"],
    ["/home/ä b/x.y_z", "--home-ä b-x.y_z--"],
    ["/a:b\\c", "--a-b-c--"],
    ["/", "----"],
  ])("is named after the directory %s", (cwd, name) => {
    expect(piProject(cwd)).toBe(name);
  });

  it("is another one where the agent works elsewhere", () => {
    const file = "sessions/--workspace-repo--/2026-11-16T07-00-00-000Z_s-1.jsonl";
    expect(agent.sessions?.place(file, "/home/me/$& repo")).toBe(
      "sessions/--home-me-$& repo--/2026-11-16T07-00-00-000Z_s-1.jsonl",
    );
  });
});
