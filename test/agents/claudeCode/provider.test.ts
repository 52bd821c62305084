import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClaudeCodeOptions, claudeCode } from "../../../src/agents/claudeCode/provider.ts";
import { commandLineOf } from "../../../src/engine/agent/agentCommand.ts";
import {
  addedArguments,
  commandOf,
  describeCommands,
  interactionOf,
  MCP_SERVERS,
  refusedOption,
} from "../../helpers/agents/agentCommands.ts";

const agent = claudeCode("claude-opus-4-8");

describeCommands(claudeCode);

describe("the command of Claude Code", () => {
  it("prints its stream, and skips permissions, even as root", () => {
    expect(commandOf(agent)).toEqual({
      command: [
        ...["claude", "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"],
        ...["--dangerously-skip-permissions", "--model", "claude-opus-4-8"],
      ],
      stdin: "Do it",
      env: expect.objectContaining({ IS_SANDBOX: "1", DISABLE_AUTOUPDATER: "1" }),
    });
  });

  it.each(["low", "medium", "high", "xhigh", "max"] as const)("asks for the effort %s", (effort) => {
    const { command } = commandOf(claudeCode("m", { effort }));
    expect(command.slice(-2)).toEqual(["--effort", effort]);
  });

  it.each(["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] as const)(
    "asks for the permission mode %s instead of skipping permissions",
    (permissionMode) => {
      const words = [...commandOf(claudeCode("m", { permissionMode })).command];
      expect(words).not.toContain("--dangerously-skip-permissions");
      expect(words[words.indexOf("--permission-mode") + 1]).toBe(permissionMode);
    },
  );

  it("continues a session", () => {
    expect(addedArguments(agent, { resume: { sessionId: "s-1", isFork: false } })).toEqual([
      "--resume",
      "s-1",
    ]);
  });

  it("continues in a copy of a session", () => {
    expect(addedArguments(agent, { resume: { sessionId: "s-1", isFork: true } })).toEqual([
      ...["--resume", "s-1", "--fork-session"],
    ]);
  });
});

describe("a prompt that begins with a slash", () => {
  const PROMPTS = ["/clear", "/clear and more", "/init", "/usr/bin/foo is broken", "/"];

  it.each(PROMPTS)("is text and no command, which only a first character can be: %j", (prompt) => {
    expect(commandOf(agent, { prompt }).stdin).toBe(`\n${prompt}`);
  });

  it.each(PROMPTS)("is a command if the caller says so: %j", (prompt) => {
    expect(commandOf(claudeCode("m", { slashCommands: true }), { prompt }).stdin).toBe(prompt);
  });
});

describe("an option of Claude Code's that makes no sense", () => {
  it.each<[keyof ClaudeCodeOptions, unknown]>([
    ["effort", "maximum"],
    ["effort", ""],
    ["effort", 3],
    ["effort", null],
    ["permissionMode", "yolo"],
    ["permissionMode", "--bare"],
    ["slashCommands", "yes"],
  ])("is refused: %s %j", (option, value) => {
    expect(refusedOption(() => claudeCode("m", { [option]: value }))).toBe(option);
  });
});

const NO_WARNING = ["--settings", '{"skipDangerousModePermissionPrompt":true}'];

describe("the terminal interface of Claude Code", () => {
  it("in a sandbox skips permissions", () => {
    expect(interactionOf(agent, "Do it", true)).toMatchObject({
      command: [
        ...["claude", "--dangerously-skip-permissions", ...NO_WARNING],
        ...["--model", "claude-opus-4-8", "--", "Do it"],
      ],
      env: { IS_SANDBOX: "1" },
    });
  });

  it("in a sandbox has the permission mode that was asked for", () => {
    const { command } = interactionOf(claudeCode("m", { permissionMode: "plan" }), undefined, true);
    expect(command).toEqual(["claude", "--permission-mode", "plan", ...NO_WARNING, "--model", "m"]);
  });

  it("on the host leaves permissions as they are there", () => {
    const skipping = claudeCode("m", { permissionMode: "bypassPermissions", effort: "low" });
    expect(interactionOf(skipping, "Do it", false).command).toEqual([
      ...["claude", "--model", "m", "--effort", "low", "--", "Do it"],
    ]);
  });

  it("on the host has a permission mode that skips nothing, if it was asked for", () => {
    const { command } = interactionOf(claudeCode("m", { permissionMode: "plan" }), undefined, false);
    expect(command).toEqual(["claude", "--permission-mode", "plan", "--model", "m"]);
  });
});

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "sanddune-home "));
});
afterEach(() => rmSync(home, { recursive: true }));

describe("the tools of other servers", () => {
  const printed = (body: string): string => {
    const program = commandOf(agent, { mcpServers: MCP_SERVERS });
    return execFileSync("sh", ["-euc", `claude() { ${body}; }\n${commandLineOf(program)}`], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: home, ...program.env },
    });
  };

  it("are in a file that is named last: everything that follows would be another one", () => {
    const words = printed(`printf '%s\\0' "$@"`).split("\0").slice(0, -1);
    expect(words.slice(0, -2)).toEqual(commandOf(agent).command.slice(1));
    expect(words.at(-2)).toBe("--mcp-config");
    expect(JSON.parse(readFileSync(words.at(-1) ?? "", "utf8"))).toEqual({
      mcpServers: {
        local: { type: "stdio", ...MCP_SERVERS.local },
        remote: { type: "http", ...MCP_SERVERS.remote },
      },
    });
  });

  it("are not in the environment of what the agent runs", () => {
    expect(printed("env")).not.toContain("secret");
  });
});

describe("the state of Claude Code before a person uses it in a sandbox", () => {
  const setUp = (env: Record<string, string>) =>
    execFileSync("sh", ["-euc", interactionOf(agent, undefined, true).setup ?? "exit 1"], {
      env: { PATH: process.env["PATH"], HOME: home, ANTHROPIC_API_KEY: "", ...env },
    });
  const json = (...path: string[]) => JSON.parse(readFileSync(join(home, ...path), "utf8"));

  it("answers the questions about theme, key and directory", () => {
    setUp({ ANTHROPIC_API_KEY: "fake-key-0123456789-0123456789" });
    expect(json(".claude.json")).toMatchObject({
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: ["0123456789-0123456789".slice(-20)] },
      projects: { "/workspace/my repo": { hasTrustDialogAccepted: true } },
    });
  });

  it("is in the directory that the environment names", () => {
    setUp({ CLAUDE_CONFIG_DIR: join(home, "elsewhere") });
    expect(json("elsewhere", ".claude.json")).toMatchObject({ hasCompletedOnboarding: true });
  });

  it.each(["", "{}", "{ }\n"])("is written where the file is empty: %j", (before) => {
    writeFileSync(join(home, ".claude.json"), before);
    setUp({});
    expect(json(".claude.json")).toMatchObject({ hasCompletedOnboarding: true });
  });

  it("is added to the existing content", () => {
    writeFileSync(
      join(home, ".claude.json"),
      '{\n  "mine": { "a": {} },\n  "hasCompletedOnboarding": false\n}\n',
    );
    setUp({});
    expect(json(".claude.json")).toMatchObject({ mine: { a: {} }, hasCompletedOnboarding: true });
  });

  it.each([
    ["a blank line at the end", '{"mine":1}\n\n'],
    ["another directory that is trusted", '{"projects":{"/x":{"hasTrustDialogAccepted":true}}}'],
    ["this directory, not trusted", '{"projects":{"/workspace/my repo":{"hasTrustDialogAccepted":false}}}'],
  ])("is added to a file with %s", (_, before) => {
    writeFileSync(join(home, ".claude.json"), before);
    setUp({});
    expect(json(".claude.json")).toMatchObject({
      hasCompletedOnboarding: true,
      projects: { "/workspace/my repo": { hasTrustDialogAccepted: true } },
    });
  });

  it("is left alone where it has every answer", () => {
    const before =
      '{"hasCompletedOnboarding": true, "projects":{"/workspace/my repo":{"hasTrustDialogAccepted":true}}}';
    writeFileSync(join(home, ".claude.json"), before);
    setUp({});
    expect(readFileSync(join(home, ".claude.json"), "utf8")).toBe(before);
  });
});
