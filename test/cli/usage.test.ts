import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWith } from "../helpers/runtimes/runtimes.ts";
import { runCli } from "./callCli.ts";
import { expectUntouched } from "./fixtures.ts";

const AGENT = ["--agent", "command", "--agent-command", "true"];
const SANDBOX = ["--sandbox", "bubblewrap"];
const PROMPT = ["--prompt", "Fix it"];
const COMPLETE = [...AGENT, ...SANDBOX, ...PROMPT];

const MCP_FILE = join(import.meta.dirname, "mcp.json");

interface Mistake {
  readonly name: string;
  readonly args: readonly string[];
  /** The message names the flag, and says what to do. */
  readonly says: readonly (string | RegExp)[];
}

const MISTAKES: readonly Mistake[] = [
  {
    name: "unknown flag",
    args: [...COMPLETE, "--brnach", "x"],
    says: ["--brnach", "--branch", "sanddune run --help"],
  },
  {
    name: "flag without its value",
    args: [...AGENT, ...SANDBOX, "--prompt"],
    says: [/--prompt <text>.*missing/],
  },
  { name: "no sandbox", args: [...AGENT, ...PROMPT], says: ["--sandbox", "docker, podman, bubblewrap"] },
  {
    name: "unknown sandbox",
    args: [...AGENT, ...PROMPT, "--sandbox", "jail"],
    says: ["--sandbox", '"jail"', "docker, podman, bubblewrap"],
  },
  {
    name: "sandbox that is a property of every object",
    args: [...AGENT, ...PROMPT, "--sandbox", "constructor"],
    says: ["docker"],
  },
  { name: "no agent", args: [...SANDBOX, ...PROMPT], says: ["--agent", "command"] },
  { name: "unknown agent", args: [...SANDBOX, ...PROMPT, "--agent", "clod"], says: ['"clod"', "command"] },
  {
    name: "agent without its command",
    args: [...SANDBOX, ...PROMPT, "--agent", "command"],
    says: ["--agent-command"],
  },
  {
    name: "agent without its model",
    args: [...SANDBOX, ...PROMPT, "--agent", "claude-code"],
    says: ["--model", "e.g. --model claude-opus-4-8"],
  },
  {
    name: "model for a command",
    args: [...COMPLETE, "--model", "gpt-6"],
    says: ["--model", "the agent command has no model"],
  },
  {
    name: "command for an agent that has its own",
    args: [...SANDBOX, ...PROMPT, "--agent", "codex", "--model", "gpt-6", "--agent-command", "true"],
    says: ["--agent-command"],
  },
  {
    name: "session of an agent that has none",
    args: [...COMPLETE, "--resume-session", "x"],
    says: ["--resume-session", "the agent command cannot resume a session"],
  },
  {
    name: "copy of no session",
    args: [...SANDBOX, ...PROMPT, "--agent", "pi", "--model", "a/b", "--fork-session"],
    says: ["--fork-session", "there is no --resume-session"],
  },
  {
    name: "effort for an agent that has none",
    args: [...SANDBOX, ...PROMPT, "--agent", "cursor", "--model", "x", "--effort", "high"],
    says: ["--effort", "Cursor", "claude-code, codex, pi"],
  },
  {
    name: "effort that the agent does not know",
    args: [...SANDBOX, ...PROMPT, "--agent", "codex", "--model", "x", "--effort", "max"],
    says: ["--effort", "low, medium, high, xhigh"],
  },
  {
    name: "effort for a command",
    args: [...COMPLETE, "--effort", "high"],
    says: ["--effort", "a command"],
  },
  {
    name: "budget for an agent that does not tell what it uses",
    args: [...COMPLETE, "--max-tokens", "5"],
    says: ["--max-tokens", "does not report how many tokens it uses"],
  },
  {
    name: "cost without prices",
    args: [...SANDBOX, ...PROMPT, "--agent", "pi", "--model", "a/b", "--max-cost-usd", "5"],
    says: ["--max-cost-usd and --prices need each other"],
  },
  {
    name: "cost of nothing",
    args: [...COMPLETE, "--max-cost-usd", "0"],
    says: ["--max-cost-usd", "above 0"],
  },
  {
    name: "answer to a rate limit that is none",
    args: [...COMPLETE, "--on-rate-limit", "wait"],
    says: ["--on-rate-limit", "number of seconds"],
  },
  {
    name: "tools for an agent that can be given none",
    args: [...COMPLETE, "--mcp-config", MCP_FILE],
    says: ["--mcp-config", "the agent command does not support MCP servers"],
  },
  {
    name: "file of hooks that is not there",
    args: [...COMPLETE, "--hooks", "gone.json"],
    says: ["--hooks: gone.json cannot be read (ENOENT)"],
  },
  {
    name: "output tag that is none",
    args: [...COMPLETE, "--output-tag", "<x>"],
    says: ["--output-tag", "tag name"],
  },
  {
    name: "mount without a place in the sandbox",
    args: [...COMPLETE, "--mount", "src"],
    says: ["--mount", "HOST:SANDBOX:ro"],
  },
  {
    name: "mount of what is not there",
    args: [...COMPLETE, "--mount", "gone:/gone"],
    says: ["--mount: ", "gone does not exist on the host"],
  },
  {
    name: "mount of the home directory",
    args: [...COMPLETE, "--mount", "~/:/host"],
    says: ["--mount: ", "--allow-unsafe-mounts"],
  },
  {
    name: "processors that are no number",
    args: [...COMPLETE, "--cpus", "many"],
    says: ["--cpus", "above 0"],
  },
  {
    name: "completion timeout of nothing",
    args: [...COMPLETE, "--completion-timeout", "-1"],
    says: ["--completion-timeout", "above 0"],
  },
  {
    name: "no prompt",
    args: [...AGENT, ...SANDBOX],
    says: ["There is no prompt", "--prompt-file FILE", "sanddune run 'Fix issue 42'"],
  },
  { name: "empty prompt", args: [...AGENT, ...SANDBOX, "--prompt", ""], says: ["The prompt is empty"] },
  {
    name: "nothing on standard input",
    args: [...AGENT, ...SANDBOX, "--prompt", "-"],
    says: ["Standard input was empty"],
  },
  {
    name: "two prompts, one of them behind the command",
    args: [...COMPLETE, "x"],
    says: ["two prompts", "--prompt"],
  },
  {
    name: "a prompt that is not quoted",
    args: [...AGENT, ...SANDBOX, "Fix", "it"],
    says: [/too many arguments/, /in quotes: .*sanddune run 'Fix issue 42'\n/, "sanddune run --help"],
  },
  {
    name: "two prompts",
    args: [...COMPLETE, "--prompt-file", "x"],
    says: ["--prompt", "--prompt-file", "cannot be used with"],
  },
  {
    name: "prompt file that is not there",
    args: [...AGENT, ...SANDBOX, "--prompt-file", "gone.md"],
    says: ["--prompt-file", "gone.md", "ENOENT"],
  },
  {
    name: "two branch strategies",
    args: [...COMPLETE, "--branch", "x", "--head"],
    says: ["--branch", "--head", "cannot be used with"],
  },
  {
    name: "two other branch strategies",
    args: [...COMPLETE, "--merge-to-head", "--head"],
    says: ["--merge-to-head", "--head"],
  },
  {
    name: "--from without --branch",
    args: [...COMPLETE, "--from", "main"],
    says: ["--from", "--branch NAME"],
  },
  {
    name: "iterations that are no number",
    args: [...COMPLETE, "--max-iterations", "many"],
    says: ["--max-iterations", "whole number"],
  },
  {
    name: "no iterations",
    args: [...COMPLETE, "--max-iterations", "0"],
    says: ["--max-iterations", "1 or more"],
  },
  {
    name: "idle timeout of nothing",
    args: [...COMPLETE, "--idle-timeout", "0"],
    says: ["--idle-timeout", "above 0"],
  },
  {
    name: "idle timeout beyond any timer",
    args: [...COMPLETE, "--idle-timeout", "1e12"],
    says: ["--idle-timeout", "at most"],
  },
  {
    name: "empty completion signal",
    args: [...COMPLETE, "--completion-signal", ""],
    says: ["--completion-signal", "non-empty"],
  },
  { name: "directory that is not there", args: [...COMPLETE, "--cwd", "gone"], says: ["--cwd", "gone"] },
  {
    name: "image for bubblewrap",
    args: [...COMPLETE, "--image-name", "x"],
    says: ["--image-name", "--sandbox docker"],
  },
  {
    name: "memory for bubblewrap",
    args: [...COMPLETE, "--memory", "1g"],
    says: ["--memory does not apply to bubblewrap", "--sandbox docker or --sandbox podman"],
  },
  {
    name: "PATH for a container",
    args: [...AGENT, ...PROMPT, "--sandbox", "podman", "--path", "/bin"],
    says: ["--path does not apply to podman", "--sandbox bubblewrap"],
  },
  {
    name: "lifetime for bubblewrap",
    args: [...COMPLETE, "--lifetime", "60"],
    says: ["--lifetime does not apply to bubblewrap", "--sandbox e2b"],
  },
  {
    name: "lifetime for a container of this machine",
    args: [...AGENT, ...PROMPT, "--sandbox", "docker", "--lifetime", "60"],
    says: ["--lifetime: is for engines on other machines, so it needs --host"],
  },
  {
    name: "lifetime that is too short",
    args: [...AGENT, ...PROMPT, "--sandbox", "docker", "--host", "tcp://127.0.0.1:1", "--lifetime", "5"],
    says: ["--lifetime: must be at least 10 seconds"],
  },
  {
    name: "half a CPU of Vercel's",
    args: [...AGENT, ...PROMPT, "--sandbox", "vercel", "--cpus", "0.5"],
    says: ["--cpus: "],
  },
  {
    name: "named network for bubblewrap",
    args: [...COMPLETE, "--network", "x"],
    says: ["--network", "host"],
  },
];

/** What only the run itself can tell, once it has seen that there is such a sandbox. */
const MISTAKES_FOR_A_RUN: readonly Mistake[] = [
  { name: "bad branch name", args: [...COMPLETE, "--branch", "a..b"], says: ['"a..b"', "branch name"] },
  {
    name: "copying into the current checkout",
    args: [...COMPLETE, "--head", "--copy", "x"],
    says: ["--copy", "merge-to-head"],
  },
];

const testMistakes = (mistakes: readonly Mistake[]): void => {
  for (const { name, args, says } of mistakes) {
    test(name, async () => {
      const cwd = temporaryRepository();
      const { exitCode, stdout, stderr } = await runCli(["run", ...args], { cwd });
      expect(stderr).toMatch(/^error: /);
      expect(stderr.match(/error: /g)).toHaveLength(1);
      expect(stderr).not.toMatch(/^\s+at /m);
      for (const words of says) expect(stderr).toMatch(words);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expectUntouched(cwd);
    });
  }
};

const ENDS = "a wrong command line ends with exit code 2 and changes nothing";

describeWith(["bubblewrap"], ENDS, () => testMistakes(MISTAKES_FOR_A_RUN));

describe(ENDS, () => {
  testMistakes(MISTAKES);

  test("with --json, the error is an object on stdout too, even if the flags cannot be parsed", async () => {
    const cwd = temporaryRepository();
    for (const args of [
      ["--json", "--nonsense"],
      [...AGENT, ...SANDBOX, "--json"],
    ]) {
      const { exitCode, stdout } = await runCli(["run", ...args], { cwd });
      expect(exitCode).toBe(2);
      expect(JSON.parse(stdout)).toEqual({ error: { name: "UsageError", message: expect.any(String) } });
    }
    expectUntouched(cwd);
  });
});

describe("what the run cannot do here ends with exit code 1", () => {
  test("not a git repository", async () => {
    const cwd = temporaryDirectory();
    const { exitCode, stderr } = await runCli(["run", ...COMPLETE], { cwd });
    expect(stderr).toContain(`${cwd} is not inside a git repository`);
    expect(stderr).toContain("git init");
    expect(exitCode).toBe(1);
  });

  test("a container runtime that is not installed", async () => {
    const cwd = temporaryRepository();
    const bin = temporaryDirectory();
    writeFileSync(join(bin, "git"), `#!/bin/sh\nPATH=${process.env["PATH"]} exec git "$@"\n`, {
      mode: 0o755,
    });
    const { exitCode, stdout } = await runCli(["run", ...AGENT, ...PROMPT, "--sandbox", "docker", "--json"], {
      cwd,
      env: { PATH: bin },
    });
    expect(JSON.parse(stdout).error).toMatchObject({
      name: "SandboxUnavailableError",
      sandbox: "docker",
      hint: expect.stringContaining("Install"),
    });
    expect(exitCode).toBe(1);
    expectUntouched(cwd);
  });
});

describe("help and version", () => {
  test("--version prints the package's version", async () => {
    const { exitCode, stdout } = await runCli(["--version"], { cwd: temporaryDirectory() });
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/),
    });
  });

  test("run --help fits 80 columns, lists sandboxes and agents and shows examples", async () => {
    const { exitCode, stdout } = await runCli(["run", "--help"], { cwd: temporaryDirectory() });
    expect(exitCode).toBe(0);
    for (const words of ["docker", "podman", "bubblewrap", "--agent-command", "sanddune run --branch"]) {
      expect(stdout).toContain(words);
    }
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("without a command, the help goes to stderr", async () => {
    const { exitCode, stdout, stderr } = await runCli([], { cwd: temporaryDirectory() });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("Usage: sanddune");
  });
});
