import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type AgentEvent, command, createSandbox, run } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { EVERY_KIND, hearing, logOf, recite, reciting, runHere } from "../agents/reciting.ts";
import { childRuns, linesOf } from "./childRuns.ts";

/** What is printed to stdout meanwhile. */
const printedBy = async (action: () => Promise<unknown>): Promise<string> => {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    await action();
    return written.mock.calls.map(([text]) => text).join("");
  } finally {
    written.mockRestore();
  }
};

describe("log-to-file mode", () => {
  it("is the default, prints nothing to stdout and writes a run log below .sanddune/logs", async () => {
    const cwd = temporaryRepository();
    const stdout = vi.spyOn(process.stdout, "write");
    const result = await run({ agent: command("echo hello"), sandbox: testIsolated(), prompt: "x", cwd });
    expect(stdout).not.toHaveBeenCalled();
    stdout.mockRestore();
    expect(dirname(result.logFilePath as string)).toBe(join(cwd, ".sanddune/logs"));
    expect(logOf(result)).toContain("hello\n");
  });

  it("writes one log for each run, and puts its name into the file's name", async () => {
    const cwd = temporaryRepository();
    for (const name of ["../../etc/passwd", "ünï/cödé run"]) await runHere({ cwd, name });
    const logs = readdirSync(join(cwd, ".sanddune/logs")).filter((entry) => entry !== ".gitignore");
    expect(logs).toHaveLength(2);
    for (const file of logs) expect(file).toMatch(/^[A-Za-z0-9._-]+(passwd|run)\.log$/);
    expect(existsSync(join(cwd, ".sanddune/etc"))).toBe(false);
  });

  it("tells the log's path also when the run fails", async () => {
    const error = await runHere({ agent: command("echo half; exit 3") }).catch((reason) => reason);
    expect(logOf(error)).toMatch(/half\n.*The run failed\. .*exit code 3/);
  });

  it("has what the agent does in the order in which it is done, and no raw line of its stdout", async () => {
    const words = Array.from({ length: 300 }, (_, number) => `word ${number}`);
    const events = words.map(
      (word, number): AgentEvent =>
        number % 2 === 0 ? { type: "text", text: `${word}\n` } : { type: "toolResult", output: word },
    );
    const heard: string[] = [];
    const result = await runHere({
      agent: reciting,
      prompt: recite(...events),
      ...hearing((event) => {
        if (event.type === "text") heard.push(event.text.trim());
        if (event.type === "toolResult") heard.push(event.output);
      }),
    });
    expect(heard).toEqual(words);
    const log = logOf(result);
    expect(log.match(/word \d+/g)).toEqual(words);
    expect(log).not.toContain("[stdout]");
    expect(log.match(/^\[stderr\] to stderr$/gm)).toHaveLength(1);
  });

  it("reports hooks, and the start and the end of a sandbox, that take longer than a second, while they run and afterwards", async () => {
    const slow = testIsolated();
    const late = async <T>(value: T): Promise<T> =>
      new Promise((resolve) => setTimeout(resolve, 1100, value));
    const sandbox = {
      ...slow,
      create: async (options: Parameters<typeof slow.create>[0]) => {
        const handle = await late(await slow.create(options));
        return { ...handle, close: () => handle.close().then(late) };
      },
    };
    const hook = [{ command: "sleep 1.1" }];
    const hooks = { host: { onWorktreeReady: hook }, sandbox: { onSandboxReady: hook } };
    const log = logOf(await runHere({ sandbox, hooks }));
    for (const what of [
      "host.onWorktreeReady",
      "Starting the test-isolated sandbox",
      "onSandboxReady",
      "Closing the test-isolated sandbox",
    ]) {
      expect(log).toMatch(new RegExp(`${what} …\n.*${what}: took \\d+(\\.\\d)? s\\.\n`));
    }
  });

  it("puts the name before every line, so that logs of parallel runs can be read together, and with verbose the raw lines, too", async () => {
    const names = ["fix-1", "fix-2"];
    const prompt = recite(...EVERY_KIND, { type: "toolResult", output: "two\nlines" });
    const results = await Promise.all(
      names.map((name) =>
        runHere({ name, agent: reciting, prompt, logging: { type: "file", verbose: true } }),
      ),
    );
    for (const [index, result] of results.entries()) {
      const lines = logOf(result).trimEnd().split("\n");
      expect(lines.length).toBeGreaterThan(15);
      expect(lines.filter((line) => !line.startsWith(`[${names[index]}] `))).toEqual([]);
      expect(lines).toContain(`[${names[index]}] [stdout] ${prompt.split("\n")[0]}`);
    }
  });

  it("prints a tail -f command for the log to stderr, which works whatever the repository's directory is called", async () => {
    const cwd = join(temporaryDirectory(), "-dash 'quotes' \"b\" $(touch x) `y` ;& ümläut 漢字");
    renameSync(temporaryRepository(), cwd);
    const stderr = vi.spyOn(console, "error").mockReturnValue();
    await runHere({ cwd, name: "n", agent: command("echo Hello.") });
    const printed = stderr.mock.calls.join("\n");
    stderr.mockRestore();
    const [, followed] = /^\[n\] Run log: (tail -f .*)$/m.exec(printed) ?? [];
    const follower = spawn("sh", ["-c", `exec ${followed}`]);
    let shown = "";
    follower.stdout.on("data", (chunk) => {
      shown += chunk;
    });
    await waitFor(() => shown.includes("Hello.") || follower.exitCode !== null);
    follower.kill();
    expect(shown).toContain("Hello.");
  });
});

describeWith(["bubblewrap"], "a log that cannot be written any more, as on a full disk,", () => {
  it("ends no run", () => {
    const cwd = temporaryRepository();
    const flood = { shell: "head -c 400000 /dev/zero | tr '\\0' x | fold -w 100" };
    const command = childRuns({ cwd, steps: [flood, { commit: "Work" }] });
    const limit = 100 * 1024;
    linesOf(`ulimit -f ${limit / 512}; ${command}`);
    const [log] = readdirSync(join(cwd, ".sanddune/logs")).filter((name) => name.endsWith(".log"));
    expect(statSync(join(cwd, ".sanddune/logs", log as string)).size).toBe(limit);
    expect(git(cwd, "log", "-1", "--format=%s")).toBe("Work");
  });
});

describe("terminal mode", () => {
  it("writes the run log as well, and the result and the error name it", async () => {
    const cwd = temporaryRepository();
    const options = { cwd, logging: { type: "stdout" } } as const;
    const logs: string[] = [];
    const printed = await printedBy(async () => {
      const result = await runHere({ ...options, agent: command("echo Hello.") });
      const error = await runHere({ ...options, agent: command("exit 3") }).catch((reason) => reason);
      logs.push(logOf(result), logOf(error));
    });
    // On a slow machine, steps before the agent may be mentioned.
    expect(printed).toMatch(/^Hello\.\n✓ The run succeeded\.\n/m);
    expect(logs[0]).toMatch(/^Hello\.\n\[sanddune .*\] The run succeeded\.\n/m);
    expect(logs[1]).toMatch(/The run failed\. .*exit code 3/);
  });

  const shownOf = async (events: AgentEvent[], verbose = false) => {
    const logging = { type: "stdout", verbose } as const;
    let log = "";
    const printed = await printedBy(async () => {
      log = logOf(await runHere({ agent: reciting, prompt: recite(...events), logging }));
    });
    return { printed, log };
  };

  const TOOLS: AgentEvent[] = [
    { type: "toolCall", name: "Bash", input: { command: "npm test" }, id: "1" },
    { type: "toolResult", output: "Exit code 1\n\n  3 tests failed\n  and more", id: "1", isError: true },
    { type: "toolCall", name: "Read", input: { path: "a.ts" }, id: "2" },
    { type: "toolCall", name: "Grep", input: { pattern: "x" }, id: "3" },
    { type: "toolResult", output: "No such file\n", id: "2", isError: true },
    { type: "toolResult", output: "two matches\nfirst\nsecond", id: "3" },
    { type: "toolCall", name: "Wait", input: {}, id: "4" },
    { type: "toolResult", output: "", id: "4", isError: false },
  ];

  it("shows in a line how each tool call ended, and of a failed one why", async () => {
    const { printed, log } = await shownOf(TOOLS);
    // On a busy machine, slow steps are reported between these lines.
    const lines = printed.split("\n").filter((line) => /^(→| {2}[✗✓])/.test(line));
    expect(lines.slice(0, 8)).toEqual([
      "→ Bash npm test",
      "  ✗ Exit code 1: 3 tests failed",
      "→ Read a.ts",
      "→ Grep x",
      "  ✗ Read: No such file",
      "  ✓ two matches",
      "→ Wait {}",
      "  ✓",
    ]);
    expect(log).toContain("[tool failed] Exit code 1\n");
    expect(log).toContain("[tool result] two matches\n");
  });

  it("shows with verbose what tools answered, but no line as the agent printed it: the run log has those", async () => {
    const { printed, log } = await shownOf(TOOLS, true);
    expect(printed).toContain("  ✓ two matches\ntwo matches\nfirst\nsecond\n");
    expect(printed).not.toContain('{"type"');
    expect(log).toContain(`[stdout] ${JSON.stringify(TOOLS[0])}`);
  });

  it("tells the same trouble with the model once, and again after the agent had got over it", async () => {
    const trouble: AgentEvent = {
      type: "error",
      kind: "unreachable",
      message: "ECONNREFUSED",
      willRetry: true,
    };
    const other = { ...trouble, message: "ENOTFOUND" };
    const text: AgentEvent = { type: "text", text: "Hello.\n" };
    const { printed, log } = await shownOf([trouble, trouble, trouble, other, text, other, text]);
    expect(printed.match(/^The agent tries again: .*/gm)).toEqual([
      "The agent tries again: ECONNREFUSED",
      "The agent tries again: ENOTFOUND",
      "The agent tries again: ENOTFOUND",
    ]);
    expect(log.match(/^\[agent tries again\]/gm)).toHaveLength(5);
  });

  it("writes the log of a long-lived sandbox as well", async () => {
    const cwd = temporaryRepository();
    const logging = { type: "stdout" } as const;
    let log = "";
    await printedBy(async () => {
      const sandbox = await createSandbox({ sandbox: testIsolated(), branch: "b", cwd, logging });
      await sandbox.exec("echo from exec");
      await sandbox.close();
      log = logOf(sandbox);
    });
    expect(log).toMatch(/\[exec\] from exec\n[\s\S]*The sandbox was closed\./);
  });
});

describe("a link to elsewhere in the place of the logs", () => {
  it("gets nothing written through it", async () => {
    const cwd = temporaryRepository();
    const elsewhere = temporaryDirectory();
    mkdirSync(join(cwd, ".sanddune"));
    symlinkSync(elsewhere, join(cwd, ".sanddune/logs"));
    await runHere({ cwd }).catch(() => {});
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});
