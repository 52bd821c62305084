import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codex } from "../../../src/agents/codex/provider.ts";
import {
  commandOf,
  describeCommands,
  interactionOf,
  MCP_SERVERS,
  refusedOption,
} from "../../helpers/agents/agentCommands.ts";

const agent = codex("gpt-6");
const configOf = (...words: readonly string[]) => words.filter((_, index) => words[index - 1] === "-c");

describeCommands(codex);

describe("the command of Codex", () => {
  it("prints its events, reads the prompt from stdin and asks nothing", () => {
    expect(commandOf(agent)).toEqual({
      command: [
        ...["codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox"],
        ...["-c", "check_for_update_on_startup=false", "-m", "gpt-6", "-"],
      ],
      stdin: "Do it",
      // It tells times of day.
      env: { TZ: "UTC" },
    });
  });

  it.each(["low", "medium", "high", "xhigh"] as const)("asks for the effort %s", (effort) => {
    expect(configOf(...commandOf(codex("m", { effort })).command)).toContain(
      `model_reasoning_effort="${effort}"`,
    );
  });

  it.each(["max", "minimal", "", 1, null])("refuses the effort %j", (effort) => {
    expect(refusedOption(() => codex("m", { effort: effort as "low" }))).toBe("effort");
  });

  it.each([true, false])(
    "goes on with a session, of which the copy is made beforehand (a fork: %s)",
    (isFork) => {
      const command = [...commandOf(agent, { resume: { sessionId: "s-1", isFork } }).command];
      expect(command.slice(0, 3)).toEqual(["codex", "exec", "resume"]);
      expect(command.slice(-2)).toEqual(["s-1", "-"]);
      expect(agent.sessions?.forksByCopy).toBe(true);
    },
  );

  // Codex takes quotes around a name for a part of it.
  it("has MCP servers as TOML, with the names of the env vars that hold their secrets", () => {
    const { command, env } = commandOf(agent, { mcpServers: MCP_SERVERS });
    expect(configOf(...command).slice(-2)).toEqual([
      `mcp_servers.local={"command"="sh","args"=["-c",${JSON.stringify('export A_KEY="$SANDDUNE_MCP_0"; unset SANDDUNE_MCP_0; exec "$0" "$@"')},"say \\"hi\\"","$(id)","it's ü"],"env_vars"=["SANDDUNE_MCP_0"],"tool_timeout_sec"=3600}`,
      expect.stringMatching(
        /^mcp_servers\.remote=\{"url"="https:\/\/tools\.example","env_http_headers"=\{"X-Key"="(\w+)"\},"tool_timeout_sec"=3600\}$/,
      ),
    ]);
    const [, variable = ""] = /"X-Key"="(\w+)"/.exec(String(configOf(...command).at(-1))) ?? [];
    expect(env).toMatchObject({ SANDDUNE_MCP_0: "first secret", [variable]: "second secret" });
  });

  it("has a value of its own for each header", () => {
    const server = (value: string) => ({
      url: "https://tools.example",
      headers: { "X-Key": value, "X-Other": value },
    });
    const { env = {} } = commandOf(agent, { mcpServers: { one: server("a"), two: server("b") } });
    const values = Object.entries(env).filter(([name]) => name !== "TZ");
    expect(values.map(([, value]) => value).sort()).toEqual(["a", "a", "b", "b"]);
  });

  it("gives each of two servers its own value of an env var that both have", () => {
    const server = (value: string) => ({ command: "serve", env: { API_KEY: value } });
    const { env = {} } = commandOf(agent, { mcpServers: { one: server("a"), two: server("b") } });
    expect(Object.values(env)).toEqual(expect.arrayContaining(["a", "b"]));
  });

  it("keeps its own env vars, whatever a server wants", () => {
    const mcpServers = { one: { command: "serve", env: { TZ: "Asia/Tokyo" } } };
    expect(commandOf(agent, { mcpServers }).env).toMatchObject({ TZ: "UTC" });
  });
});

describe("the terminal interface of Codex", () => {
  it("in a sandbox asks for no approval", () => {
    const words = [...interactionOf(agent, "Do it", true).command];
    expect(words.slice(0, 4)).toEqual(["codex", "--no-daemon", "-m", "gpt-6"]);
    expect(words).toContain("--dangerously-bypass-approvals-and-sandbox");
    expect(words.slice(-2)).toEqual(["--", "Do it"]);
  });

  it("on the host asks the person", () => {
    expect(interactionOf(codex("gpt-6", { effort: "low" }), "Do it", false)).toEqual({
      command: [
        ...["codex", "--no-daemon", "-m", "gpt-6", "-c", 'model_reasoning_effort="low"'],
        ...["--", "Do it"],
      ],
    });
  });
});

describe("the trust of Codex in the directory of a sandbox", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "sanddune-home "));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const setUp = (env: Record<string, string> = {}) =>
    execFileSync("sh", ["-euc", interactionOf(agent, undefined, true).setup ?? "exit 1"], {
      env: { PATH: process.env["PATH"], HOME: home, ...env },
    });

  it.each([
    [".codex", {}],
    ["elsewhere", { CODEX_HOME: "elsewhere" }],
  ])(
    "is written once, however often it is set up, to %s",
    (directory, { CODEX_HOME }: { CODEX_HOME?: string }) => {
      const env = { ...(CODEX_HOME !== undefined && { CODEX_HOME: join(home, CODEX_HOME) }) };
      setUp(env);
      setUp(env);
      expect(readFileSync(join(home, directory, "config.toml"), "utf8")).toBe(
        '\n[projects."/workspace/my repo"]\ntrust_level = "trusted"\n',
      );
    },
  );
});

describe("the files of a session of Codex's", () => {
  it("are where Codex itself has put them", () => {
    const file = "sessions/2026/11/16/rollout-2026-11-16T07-00-00-s-1.jsonl";
    expect(agent.sessions?.files("s-1")).toEqual(["sessions/*/*/*/rollout-*-s-1.jsonl"]);
    expect(agent.sessions?.place(file, "/anywhere")).toBe(file);
  });
});
