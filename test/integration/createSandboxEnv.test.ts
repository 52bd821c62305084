import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type CreateSandboxOptions,
  command,
  createSandbox,
  type EnvVars,
  type Sandbox,
  type SandboxExecOptions,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { expectUntouched } from "../cli/fixtures.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";

const SANDBOXES = [
  ["docker", ["docker"], (env: EnvVars = {}) => docker({ image: TEST_IMAGE, env })],
  ["bubblewrap", ["bubblewrap"], (env: EnvVars = {}) => bubblewrap({ env })],
  ["test-isolated", [], (env: EnvVars = {}) => testIsolated({ env })],
] as const satisfies readonly (readonly [string, readonly Runtime[], unknown])[];

/** A sandbox on `agent/work`, closed after the test. */
const open = async (options: Partial<CreateSandboxOptions> = {}): Promise<Sandbox> => {
  const cwd = options.cwd ?? temporaryRepository();
  const sandbox = await createSandbox({ branch: "agent/work", sandbox: testIsolated(), ...options, cwd });
  onTestFinished(async () => void (await sandbox.close()));
  return sandbox;
};

const failureOf = (running: Promise<unknown>) =>
  running.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (error) => error,
  );

const logOf = ({ logFilePath }: { readonly logFilePath?: string }): string =>
  readFileSync(logFilePath as string, "utf8");

for (const [name, runtimes, sandbox] of SANDBOXES) {
  describeWith(runtimes, `exec() in a ${name} sandbox that lasts`, () => {
    it("resolves with both streams and the exit code, whatever it is", async () => {
      const warm = await open({ sandbox: sandbox() });
      expect(await warm.exec("echo out; echo err >&2")).toEqual({
        stdout: "out\n",
        stderr: "err\n",
        exitCode: 0,
        commits: [],
        protectedPaths: [],
        warnings: [],
      });
      expect((await warm.exec("exit 7")).exitCode).toBe(7);
      expect((await warm.exec("no-such-program-here")).exitCode).toBe(127);
      expect((await warm.exec("sh -c 'kill -9 $$'")).exitCode).toBe(137);
    });

    it("gives the shell the command as it is, and nothing else to read", async () => {
      const warm = await open({ sandbox: sandbox() });
      expect(await warm.exec("cat <<END\nhere")).toMatchObject({ exitCode: 0, stdout: "here" });
      expect(await warm.exec("echo a; echo b)")).toMatchObject({ exitCode: 2, stdout: "" });
    });

    it("starts in the worktree unless told otherwise, and hands over env and standard input", async () => {
      const warm = await open({ sandbox: sandbox() });
      expect((await warm.exec("cat README.md")).stdout).toBe("# Fixture\n");
      expect((await warm.exec("pwd", { cwd: "/usr" })).stdout).toBe("/usr\n");
      expect((await warm.exec('printf "%s" "$A"', { env: { A: "a 'b' $c\nd" } })).stdout).toBe("a 'b' $c\nd");
      expect((await warm.exec('printf "%s" "$A"')).stdout).toBe("");
      expect((await warm.exec("cat", { stdin: "typed" })).stdout).toBe("typed");
      expect((await warm.exec("cat")).stdout).toBe("");
      expect((await warm.exec("cat", { stdin: new Uint8Array([97, 10]) })).stdout).toBe("a\n");
    });

    it("tells the lines of each stream as they come", async () => {
      const warm = await open({ sandbox: sandbox() });
      const [lines, errors]: [string[], string[]] = [[], []];
      await warm.exec("echo one; echo two; echo three >&2", {
        onLine: (line) => void lines.push(line),
        onStderrLine: (line) => void errors.push(line),
      });
      expect([lines, errors]).toEqual([["one", "two"], ["three"]]);
    });

    it("brings home what the command commits, also when it fails, and lists exactly that", async () => {
      const cwd = temporaryRepository();
      const warm = await open({ cwd, sandbox: sandbox() });
      const commit = (message: string) => `git commit -q --allow-empty -m ${message}`;
      const tip = () => git(cwd, "rev-parse", "agent/work");
      const one = await warm.exec(commit("one"));
      expect(one.commits).toEqual([{ sha: tip() }]);
      const nothing = await warm.exec("true");
      expect(nothing.commits).toEqual([]);
      const failed = await warm.exec(`${commit("two")}; exit 3`);
      expect(failed).toMatchObject({ exitCode: 3, commits: [{ sha: tip() }] });
      const ran = await warm.run({ agent: command(commit("three")), prompt: "Work" });
      expect(ran.commits).toEqual([{ sha: tip() }]);
      expect(git(cwd, "log", "--reverse", "--format=%s", "main..agent/work")).toBe("one\ntwo\nthree");
    });
  });

  describeWith(runtimes, `the env vars in a ${name} sandbox that lasts`, () => {
    it("reach hooks, commands and runs; the agent's own reach each of its runs; those of the run win", async () => {
      const show = 'echo "[$PROVIDER] [$SANDBOX] [$AGENT]"';
      const agent = command(show, { env: { AGENT: "agent" } });
      const warm = await open({
        sandbox: sandbox({ PROVIDER: "prov" }),
        env: { SANDBOX: "sand" },
        hooks: { sandbox: { onSandboxReady: [{ command: `${show} > ~/shown` }] } },
      });
      const said = async (env: EnvVars = {}) => (await warm.run({ agent, prompt: "x", env })).stdout;
      expect((await warm.exec("cat ~/shown")).stdout).toBe("[prov] [sand] []\n");
      expect((await warm.exec(show)).stdout).toBe("[prov] [sand] []\n");
      expect(await said()).toBe("[prov] [sand] [agent]\n");
      expect(await said({ PROVIDER: "run", SANDBOX: "run", AGENT: "run" })).toBe("[run] [run] [run]\n");
      expect(await said()).toBe("[prov] [sand] [agent]\n");
    });
  });
}

describe("exec()", () => {
  it("that takes too long is ended with a ProcessTimeoutError, and its commits are home", async () => {
    const cwd = temporaryRepository();
    const warm = await open({ cwd });
    const commit = "git commit -q --allow-empty -m kept";
    const error = await failureOf(warm.exec(`${commit}; echo words >&2; sleep 600`, { timeoutMs: 1000 }));
    expect(error).toMatchObject({ name: "ProcessTimeoutError", timeoutMs: 1000 });
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("kept");
    expect(error.commits).toEqual([{ sha: git(cwd, "rev-parse", "agent/work") }]);
    expect((await warm.exec("echo usable")).stdout).toBe("usable\n");
  });

  it("that fails does not claim the commits of an earlier one", async () => {
    const warm = await open();
    expect((await warm.exec("git commit -q --allow-empty -m earlier")).commits).toHaveLength(1);
    const error = await failureOf(warm.exec("sleep 600", { timeoutMs: 200 }));
    expect(error).toMatchObject({ name: "ProcessTimeoutError", commits: [] });
  });

  it("that is aborted rejects with the identical reason, and its commits are home", async () => {
    const cwd = temporaryRepository();
    const warm = await open({ cwd });
    const reason = { why: "enough" };
    const controller = new AbortController();
    const aborted = warm.exec("git commit -q --allow-empty -m kept; echo ready; sleep 600", {
      signal: controller.signal,
      onLine: () => controller.abort(reason),
    });
    expect(await failureOf(aborted)).toBe(reason);
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("kept");
    expect((await warm.exec("echo usable")).stdout).toBe("usable\n");
    const early = warm.exec("echo never > never.txt", { signal: AbortSignal.abort(reason) });
    expect(await failureOf(early)).toBe(reason);
    expect((await warm.exec("ls")).stdout).toBe("README.md\n");
  });

  const BAD: Readonly<Record<string, [unknown, unknown, RegExp]>> = {
    "no command": [undefined, {}, /`command`/],
    "an empty command": ["", {}, /`command`/],
    "an option that does not exist": ["true", { timeout: 5 }, /`timeout`.*no such option.*timeoutMs/],
    "root, which is for hooks": ["true", { sudo: true }, /`sudo`.*no such option/],
    "a time that is none": ["true", { timeoutMs: -1 }, /`timeoutMs`/],
    "an env var that is no text": ["true", { env: { A: 1 } }, /`env`.*\bA\b/],
    "an input that is none": ["true", { stdin: 5 }, /`stdin`/],
    "a signal that is none": ["true", { signal: {} }, /`signal`.*AbortSignal/],
    "options that are none": ["true", "fast", /`options`.*object/],
    "null for options": ["true", null, /`options`.*object/],
  };
  it.each(Object.entries(BAD))("refuses %s with a clear error", async (_, [line, options, message]) => {
    const warm = await open();
    const error = await failureOf(warm.exec(line as string, options as SandboxExecOptions));
    expect(error).toMatchObject({ name: "InvalidOptionsError", message: expect.stringMatching(message) });
  });
});

it("an env var that both the agent and the sandbox declare is an error of the run, and the sandbox is unharmed", async () => {
  const warm = await open({ sandbox: testIsolated({ env: { KEY: "sandbox" } }) });
  const agent = command('echo "$KEY"', { env: { KEY: "agent" } });
  expect(await failureOf(warm.run({ agent, prompt: "x" }))).toMatchObject({
    name: "EnvOverlapError",
    keys: ["KEY"],
  });
  expect((await warm.exec('echo "$KEY"')).stdout).toBe("sandbox\n");
});

it("an env var without a value fails createSandbox(), and nothing is created", async () => {
  const cwd = temporaryRepository();
  const env = { KEY: () => Promise.reject(new Error("vault is sealed")) };
  expect(await failureOf(open({ cwd, env }))).toMatchObject({ name: "EnvValueError", key: "KEY" });
  expectUntouched(cwd);
});

describe("a secret that has been in the sandbox is redacted", () => {
  const SECRET = "s3cr3t-value-of-the-making";

  it("in the results and logs of later runs that do not have it any more", async () => {
    const warm = await open({
      env: { TOKEN: SECRET },
      hooks: { sandbox: { onSandboxReady: [{ command: 'echo "$TOKEN" > ~/token' }] } },
    });
    const result = await warm.run({ agent: command("cat ~/token"), prompt: "x", env: { TOKEN: "other" } });
    expect(result.stdout).toBe("[redacted TOKEN (an earlier value)]\n");
    expect(logOf(result) + logOf(warm)).not.toContain(SECRET);
  });

  it("in every value that it has had, when a function gives another one for each call", async () => {
    let asked = 0;
    const warm = await open({ env: { TOKEN: () => `${SECRET}-${++asked}` } });
    const agent = command('echo "<$TOKEN>" >> ~/tokens; cat ~/tokens');
    const results = [];
    for (let run = 0; run < 3; run++) results.push(await warm.run({ agent, prompt: "x" }));
    const { stdout } = await warm.exec("cat ~/tokens");
    expect(new Set(stdout.trim().split("\n")).size).toBe(3);
    expect(results.map(({ stdout }) => stdout.split("\n").length - 1)).toEqual([1, 2, 3]);
    expect(JSON.stringify(results) + results.map(logOf).join("")).not.toContain(SECRET);
  });

  it("in the log of the sandbox, when it was the secret of a run", async () => {
    const warm = await open();
    const agent = command('echo "$TOKEN" > ~/token');
    await warm.run({ agent, prompt: "x", env: { TOKEN: SECRET } });
    await warm.exec("cat ~/token");
    expect(logOf(warm)).toContain("exec: cat ~/token");
    expect(logOf(warm)).not.toContain(SECRET);
  });

  it("in the log of the sandbox, when it was the secret of a command", async () => {
    const warm = await open();
    expect((await warm.exec('echo "$TOKEN"', { env: { TOKEN: SECRET } })).stdout).toBe(`${SECRET}\n`);
    expect(logOf(warm)).toContain('exec: echo "$TOKEN"');
    expect(logOf(warm)).not.toContain(SECRET);
  });
});
