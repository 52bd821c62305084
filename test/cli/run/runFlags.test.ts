import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { expectUntouched } from "../fixtures.ts";
import { isLimited, saysText, standInAgent, succeeds } from "./standInAgent.ts";

const COMMIT = "git add . && git commit --quiet -m Report";
const PROMPT = ["--branch", "b", "--prompt", "Work", "--json"];

const byCommand = (commandLine: string): string[] => [
  "run",
  ...["--agent-command", commandLine, "--sandbox", "bubblewrap"],
  ...PROMPT,
];

const jsonFile = (value: unknown): string => {
  const path = join(temporaryDirectory(), "flags.json");
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
};

describeWith(["bubblewrap"], "flags of sanddune run", () => {
  it("--mount shows what it names, relative to where it was started, and keeps :ro from being written", async () => {
    const cwd = temporaryRepository();
    const elsewhere = temporaryDirectory();
    mkdirSync(join(elsewhere, "open"));
    mkdirSync(join(elsewhere, "closed"));
    const agent = "echo new > /open/file; echo new > /closed/file || echo refused";
    const { exitCode, stdout } = await runCli(
      [...byCommand(agent), "--cwd", cwd, "--mount", "open:/open", "--mount", "closed:/closed:ro"],
      { cwd: elsewhere },
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).stdout).toBe("refused\n");
    expect(readFileSync(join(elsewhere, "open/file"), "utf8")).toBe("new\n");
    expect(existsSync(join(elsewhere, "closed/file"))).toBe(false);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("--hooks runs the hooks of a file", async () => {
    const cwd = temporaryRepository();
    const hooks = jsonFile({
      host: { onWorktreeReady: [{ command: "echo host > by-host" }] },
      sandbox: { onSandboxReady: [{ command: "echo sandbox > by-sandbox", timeoutMs: 20_000 }] },
    });
    const { exitCode } = await runCli([...byCommand(COMMIT), "--hooks", hooks], { cwd });
    expect(exitCode).toBe(0);
    expect(git(cwd, "show", "b:by-host")).toBe("host");
    expect(git(cwd, "show", "b:by-sandbox")).toBe("sandbox");
  });

  it("--no-cache runs hooks with `cache`, and keeps nothing of what they do", async () => {
    const cwd = temporaryRepository();
    const command = "echo made > made";
    const hooks = jsonFile({ sandbox: { onSandboxReady: [{ command, cache: {} }] } });
    const flags = [...byCommand(COMMIT), "--hooks", hooks];
    expect((await runCli([...flags, "--no-cache"], { cwd })).exitCode).toBe(0);
    expect(git(cwd, "show", "b:made")).toBe("made");
    expect(existsSync(join(cwd, ".git/sanddune/setups"))).toBe(false);
    expect((await runCli([...flags, "--branch", "kept"], { cwd })).exitCode).toBe(0);
    expect(readdirSync(join(cwd, ".git/sanddune/setups"))).toHaveLength(1);
    await runCli(["clean", "--yes"], { cwd });
  });

  it("--output-tag makes what the agent says in the tag the output, for programs and for people", async () => {
    const cwd = temporaryRepository();
    const flags = byCommand("echo 'It is <answer>forty-two</answer>.'");
    const json = await runCli([...flags, "--output-tag", "answer"], { cwd });
    expect(JSON.parse(json.stdout).output).toBe("forty-two");
    const people = await runCli([...flags.filter((flag) => flag !== "--json"), "--output-tag", "answer"], {
      cwd,
    });
    expect(people.stdout).toMatch(/^Output\nforty-two$/m);
  });

  it("--prompt-expansion-timeout and --idle-timeout stop what takes longer, and are named by the error", async () => {
    const cwd = temporaryRepository();
    const template = join(temporaryDirectory(), "prompt.md");
    writeFileSync(template, "!`sleep 300`");
    const base = ["run", "--agent-command", "sleep 300", "--sandbox", "bubblewrap", "--branch", "b"];
    const expansion = await runCli(
      [...base, "--prompt-file", template, "--prompt-expansion-timeout", "0.2"],
      { cwd },
    );
    expect(expansion.exitCode).toBe(1);
    expect(expansion.stderr).toMatch(/shell expression !`sleep 300`.*200 ms/s);
    const idle = await runCli([...base, "--prompt", "Work", "--idle-timeout", "0.2"], { cwd });
    expect(idle.exitCode).toBe(1);
    expect(idle.stderr).toContain("Raise --idle-timeout if");
  });

  it("--completion-timeout ends processes that linger after the end of turn", async () => {
    const cwd = temporaryRepository();
    const agent = standInAgent(`${COMMIT}\n${saysText("Hello.")}\n${succeeds}\nsleep 300`);
    const { exitCode } = await runCli(["run", ...agent, ...PROMPT, "--completion-timeout", "0.2"], { cwd });
    expect(exitCode).toBe(0);
  });

  it("--effort, --mcp-config and --no-capture-sessions reach the agent, no value of the file its command line", async () => {
    const cwd = temporaryRepository();
    const agent = standInAgent(
      `echo "$@" > arguments; cat "$SANDDUNE_MCP_FILE" > servers; ${COMMIT}; ${succeeds}`,
    );
    const servers = join(import.meta.dirname, "../mcp.json");
    const { exitCode } = await runCli(
      ["run", ...agent, ...PROMPT, "--effort", "max", "--mcp-config", servers, "--no-capture-sessions"],
      { cwd },
    );
    expect(exitCode).toBe(0);
    expect(git(cwd, "show", "b:arguments")).toContain("--model claude-opus-4-8 --effort max");
    expect(git(cwd, "show", "b:arguments")).not.toContain("key-of-the-test");
    expect(JSON.parse(git(cwd, "show", "b:servers"))).toEqual({
      mcpServers: {
        docs: { type: "stdio", command: "docs-server", env: { DOCS_KEY: "key-of-the-test" } },
      },
    });
  });

  it("--max-cost-usd stops a run by the prices of a file", async () => {
    const cwd = temporaryRepository();
    const agent = standInAgent(
      `${saysText("Expensive.", { input_tokens: 3_000_000, output_tokens: 0 })}; sleep 300`,
    );
    const prices = jsonFile({ inputPerMillion: 2, outputPerMillion: 10 });
    const { exitCode, stderr } = await runCli(
      ["run", ...agent, ...PROMPT, "--max-cost-usd", "5", "--prices", prices],
      { cwd },
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain("used 6 USD; --max-cost-usd allows 5 USD");
  });

  it("--on-rate-limit waits for a limit to end, and fails without it", async () => {
    const cwd = temporaryRepository();
    const directory = temporaryDirectory();
    const agent = standInAgent(
      `if [ -e /shared/limited ]; then ${succeeds}; else : > /shared/limited; ${isLimited("retry in 1 s")}; fi`,
    );
    const flags = ["run", ...agent, ...PROMPT, "--mount", `${directory}:/shared`];
    const failed = await runCli(flags, { cwd });
    expect(JSON.parse(failed.stdout).error.name).toBe("AgentRateLimitError");
    const waited = await runCli([...flags, "--on-rate-limit", "60"], { cwd });
    expect(waited.exitCode).toBe(0);
  });

  it("--network host opens the network of bubblewrap, which is closed otherwise", async () => {
    const cwd = temporaryRepository();
    const interfaces = async (...flags: string[]) => {
      const { stdout } = await runCli([...byCommand("grep -c : /proc/net/dev"), ...flags], { cwd });
      return Number(JSON.parse(stdout).stdout);
    };
    const onHost = readFileSync("/proc/net/dev", "utf8").split(":").length - 1;
    expect(await interfaces("--network", "host")).toBe(onHost);
    expect(await interfaces()).toBe(1);
  });

  it("an agent that is known by name can reach its model from bubblewrap, unless that is forbidden", async () => {
    const interfaces = async (...flags: string[]) => {
      const cwd = temporaryRepository();
      const agent = standInAgent(`grep -c : /proc/net/dev > count; ${COMMIT}; ${succeeds}`);
      await runCli(["run", ...agent, ...PROMPT, ...flags], { cwd });
      return Number(git(cwd, "show", "b:count"));
    };
    expect(await interfaces()).toBe(readFileSync("/proc/net/dev", "utf8").split(":").length - 1);
    expect(await interfaces("--network", "none")).toBe(1);
  });
});

it.each([
  ["--hooks", "{ broken: tok-9Zx81mQv }", "is not valid JSON"],
  ["--hooks", [], "must contain one JSON object"],
  ["--hooks", { sandbox: { onReady: [] } }, "--hooks, sandbox.onReady: there is no such option"],
  [
    "--hooks",
    { host: { onSandboxReady: [{}] } },
    "--hooks, host.onSandboxReady[0].command: must be a non-empty string",
  ],
  ["--prices", { inputPerMillion: 1 }, "needs `inputPerMillion` and `outputPerMillion`"],
  ["--mcp-config", { servers: {} }, 'must contain { "mcpServers": { NAME: … } }'],
  ["--mcp-config", { mcpServers: { docs: { type: "sse", url: "http://127.0.0.1:1" } } }, "docs must be"],
  ["--mcp-config", { mcpServers: { docs: { env: { KEY: "tok-9Zx81mQv" } } } }, "docs must be"],
  ["--mcp-config", '{\n"mcpServers": {\n"KEY": tok-9Zx81mQv', "is not valid JSON"],
])(
  "a wrong file for %s is told before anything is done, and none of its values: %j",
  async (flag, value, words) => {
    const cwd = temporaryRepository();
    const agent = ["--agent", "claude-code", "--model", "claude-opus-4-8", "--sandbox", "bubblewrap"];
    const cost = flag === "--prices" ? ["--max-cost-usd", "1"] : [];
    const { exitCode, stderr } = await runCli(["run", ...agent, ...PROMPT, ...cost, flag, jsonFile(value)], {
      cwd,
      env: { SANDDUNE_DEBUG: "1" },
    });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("tok-9Zx81mQv");
    expect(exitCode).toBe(2);
    expectUntouched(cwd);
  },
);
