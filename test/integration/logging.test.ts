import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type AgentEvent, command, run } from "../../src/index.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import { childRuns, linesOf } from "./childRuns.ts";
import { EVERY_KIND, hearing, logOf, recite, reciting, runHere } from "./reciting.ts";

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
    const names = ["first run", "../../etc/passwd", "ünï/cödé"];
    for (const name of names) await runHere({ cwd, name });
    const logs = readdirSync(join(cwd, ".sanddune/logs")).filter((entry) => entry !== ".gitignore");
    expect(logs.map((file) => file.replace(/^[0-9TZ-]+[0-9a-z]*-/, "")).sort()).toHaveLength(3);
    for (const file of logs) expect(file).toMatch(/^[A-Za-z0-9._-]+\.log$/);
    expect(existsSync(join(cwd, ".sanddune/etc"))).toBe(false);
  });

  it("tells the log's path also when the run fails", async () => {
    const error = await runHere({ agent: command("echo half; exit 3") }).catch((reason) => reason);
    expect(logOf(error)).toMatch(/half\n.*The run failed\. .*exit code 3/);
  });

  it.each([true, false])("has raw lines with verbose: %s only if that is true", async (verbose) => {
    const prompt = recite({ type: "text", text: "Hello.\n" });
    const log = logOf(await runHere({ agent: reciting, prompt, logging: { type: "file", verbose } }));
    expect(log.includes(`[stdout] ${prompt}`)).toBe(verbose);
    expect(log.match(/^\[stderr\] to stderr$/gm)).toHaveLength(1);
    expect(log).toContain("\nHello.\n");
  });

  it("has what the agent does in the order in which it is done", async () => {
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
    expect(logOf(result).match(/word \d+/g)).toEqual(words);
  });

  it.each([
    ["a hook", { hooks: { host: { onWorktreeReady: [{ command: "sleep 1.1" }] } } }, "host.onWorktreeReady"],
    [
      "a hook in the sandbox",
      { hooks: { sandbox: { onSandboxReady: [{ command: "sleep 1.1" }] } } },
      "onSandboxReady",
    ],
  ])(
    "tells of %s that takes longer than a second, while it lasts and afterwards",
    async (_, options, label) => {
      const log = logOf(await runHere(options));
      expect(log).toMatch(new RegExp(`${label} …\n.*${label}: took \\d+(\\.\\d)? s\\.\n`));
    },
  );

  it("tells of a sandbox that takes longer than a second to start, and to close", async () => {
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
    const log = logOf(await runHere({ sandbox }));
    expect(log).toMatch(/Starting the test-isolated sandbox: took \d+(\.\d)? s\./);
    expect(log).toMatch(/Closing the test-isolated sandbox: took \d+(\.\d)? s\./);
  });

  it("puts the name before every line, so that logs of parallel runs can be read together", async () => {
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
    }
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

describeWith(["bubblewrap"], "the tail -f command", () => {
  it.each(["plain", "with blanks and 'quotes'", 'a "b" $(touch x) `y` ;&', "-dash", "ümläut 漢字"])(
    "is printed to stderr and works when the repository is in a directory named %j",
    async (name) => {
      const cwd = join(temporaryDirectory(), name);
      renameSync(temporaryRepository(), cwd);
      const { stdout, stderr } = linesOf(childRuns({ cwd, name: "n", steps: [{ text: "Hello." }] }));
      expect(stdout).toEqual([]);
      const [, followed] = /^\[n\] Run log: (tail -f .*)$/.exec(stderr[0] ?? "") ?? [];
      const follower = spawn("sh", ["-c", `exec ${followed}`]);
      let shown = "";
      follower.stdout.on("data", (chunk) => {
        shown += chunk;
      });
      await waitFor(() => shown.includes("Hello.") || follower.exitCode !== null);
      follower.kill();
      expect(shown).toContain("Hello.");
    },
  );
});

describeWith(["bubblewrap"], "terminal mode", () => {
  it("has no log: neither a path in the result nor a file", async () => {
    const cwd = temporaryRepository();
    const { stdout, stderr } = linesOf(
      childRuns({ cwd, steps: [{ text: "Hello." }], logging: { type: "stdout" } }),
    );
    expect(stdout.slice(0, 2)).toEqual(["Hello.", "✓ The run succeeded."]);
    expect(stderr).toEqual([]);
    expect(readdirSync(join(cwd, ".sanddune/logs"))).toEqual([".gitignore"]);
  });

  it("leaves logFilePath out of the result, and of the error", async () => {
    const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const logging = { type: "stdout" } as const;
    const result = await runHere({ logging });
    const error = await runHere({ logging, agent: command("exit 3") }).catch((reason) => reason);
    printed.mockRestore();
    expect("logFilePath" in result).toBe(false);
    expect(error.name).toBe("AgentFailedError");
    expect(error.logFilePath).toBeUndefined();
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
