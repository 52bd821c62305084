import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type CreateSandboxOptions,
  command,
  createSandbox,
  createWorktree,
  InvalidOptionsError,
  type Sandbox,
  scripted,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { expectUntouched } from "../../cli/fixtures.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** A sandbox on `agent/work`, closed after the test. */
const open = async (options: Partial<CreateSandboxOptions> = {}): Promise<Sandbox> => {
  const cwd = options.cwd ?? temporaryRepository();
  const sandbox = await createSandbox({ branch: "agent/work", sandbox: testIsolated(), ...options, cwd });
  onTestFinished(async () => void (await sandbox.close()));
  return sandbox;
};

const reasonOf = (running: Promise<unknown>) =>
  running.then(
    () => expect.fail("did not reject"),
    (reason: unknown) => reason,
  );

const logOf = ({ logFilePath }: { readonly logFilePath?: string }): string =>
  readFileSync(logFilePath as string, "utf8");

const COMMIT = "git commit -q --allow-empty -m";

describe("exec()", () => {
  it("resolves with both streams and the exit code, whatever it is, and has what it was given", async () => {
    const sandbox = await open();
    const [lines, errors]: [string[], string[]] = [[], []];
    const given = await sandbox.exec('cat; printf "%s\\n" "$A"; pwd; echo three >&2', {
      ...{ cwd: "/usr", env: { A: "a 'b' $c\nd" }, stdin: new Uint8Array([97, 10]) },
      onLine: (line) => void lines.push(line),
      onStderrLine: (line) => void errors.push(line),
    });
    expect(given).toEqual({
      stdout: "a\na 'b' $c\nd\n/usr\n",
      stderr: "three\n",
      exitCode: 0,
      commits: [],
      protectedPaths: [],
      warnings: [],
    });
    expect([lines, errors]).toEqual([["a", "a 'b' $c", "d", "/usr"], ["three"]]);

    const nothing = 'cat README.md; cat; echo "[$A]"; cat <<END\nhere';
    expect(await sandbox.exec(nothing)).toMatchObject({ exitCode: 0, stdout: "# Fixture\n[]\nhere" });
    expect(await sandbox.exec("echo a; echo b)")).toMatchObject({ exitCode: 2, stdout: "" });
    expect((await sandbox.exec("no-such-program-here")).exitCode).toBe(127);
    expect((await sandbox.exec("sh -c 'kill -9 $$'")).exitCode).toBe(137);
  });

  it("imports what the command commits, lists exactly that, and tells what a person should look at", async () => {
    const cwd = temporaryRepository();
    const sandbox = await open({ cwd });
    const one = await sandbox.exec(`echo 'run me' > .envrc && git add . && ${COMMIT} one; exit 3`);
    const tip = { sha: git(cwd, "rev-parse", "agent/work") };
    expect(one).toMatchObject({ exitCode: 3, commits: [tip], protectedPaths: [".envrc"] });
    expect(await sandbox.exec("true")).toMatchObject({ commits: [], protectedPaths: [] });
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("one");
  });

  it("that fails rejects with the very reason, leaves nothing locked, and its commits are home", async () => {
    const cwd = temporaryRepository();
    const sandbox = await open({ cwd, sandbox: testIsolated({ env: { KEY: "sandbox" } }) });
    const thrown = new RangeError("enough");
    const onLine = () => {
      throw thrown;
    };
    expect(await reasonOf(sandbox.exec("echo line; sleep 1000", { onLine }))).toBe(thrown);
    const stdin = async function* () {
      yield Buffer.from("some");
      throw thrown;
    };
    expect(await reasonOf(sandbox.exec("cat", { stdin: stdin() }))).toBe(thrown);

    const controller = new AbortController();
    const reason = { why: "enough" };
    const locks = "touch .git/index.lock .git/refs/heads/agent/work.lock";
    const aborted = sandbox.exec(`${COMMIT} kept && ${locks} && echo locked && sleep 1000`, {
      signal: controller.signal,
      onLine: () => controller.abort(reason),
    });
    expect(await reasonOf(aborted)).toBe(reason);
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("kept");
    const early = sandbox.exec("echo never > never.txt", { signal: AbortSignal.abort(reason) });
    expect(await reasonOf(early)).toBe(reason);

    expect(await reasonOf(sandbox.exec("sleep 1000", { timeoutMs: 200 }))).toMatchObject({
      ...{ name: "ProcessTimeoutError", timeoutMs: 200 },
      // Those of the one before are not claimed.
      commits: [],
    });

    const agent = command("true", { env: { KEY: "agent" } });
    expect(await reasonOf(sandbox.run({ agent, prompt: "x" }))).toMatchObject({
      name: "EnvOverlapError",
      keys: ["KEY"],
    });
    const next = await sandbox.exec(`ls; echo "$KEY"; ${COMMIT} next`);
    expect(next.stdout).toBe("README.md\nsandbox\n");
    expect(next.commits).toHaveLength(1);
  });

  it("that is refused does not stand in the way of the next one's own error", async () => {
    const sandbox = await open();
    const plant = (name: string) =>
      sandbox.exec(
        `mkdir -p .sanddune/logs && echo x > .sanddune/logs/${name} && git add -f . && ${COMMIT} x`,
      );
    for (const name of ["one", "two"]) {
      expect(await reasonOf(plant(name))).toMatchObject({ name: "ImportRefusedError" });
    }
  });
});

describe("calls on one sandbox", () => {
  it("can be any number at once, without a word from Node", async () => {
    const warned: Error[] = [];
    const onWarning = (warning: Error) => warned.push(warning);
    process.on("warning", onWarning);
    const sandbox = await open();
    // Node warns of more than ten listeners.
    const numbers = Array.from({ length: 12 }, (_, index) => index);
    const all = await Promise.all(numbers.map((index) => sandbox.exec(`echo ${index}`)));
    process.off("warning", onWarning);
    expect(all.map(({ stdout }) => Number(stdout))).toEqual(numbers);
    expect(warned).toEqual([]);
  });

  it("can be made by what listens to a run, and come after it; but cannot be what a value of another one waits for, or its input", async () => {
    const sandbox = await open();
    let later: ReturnType<Sandbox["exec"]> | undefined;
    const onAgentStreamEvent = () => {
      later ??= sandbox.exec("git log --format=%s");
    };
    await sandbox.run({
      agent: scripted([{ text: "I begin" }, { commit: "Done" }]),
      prompt: "x",
      logging: { type: "file", onAgentStreamEvent },
    });
    expect((await later)?.stdout).toBe("Done\nInitial commit\n");

    const TOKEN = async () => (await sandbox.exec("echo a-secret-value")).stdout.trim();
    const reason = await reasonOf(sandbox.run({ agent: command("true"), prompt: "x", env: { TOKEN } }));
    expect(String(reason)).toMatch(/TOKEN/);
    expect((reason as { cause: unknown }).cause).toBeInstanceOf(InvalidOptionsError);
    const stdin = async function* () {
      yield Buffer.from((await sandbox.exec("echo never")).stdout);
    };
    expect(await reasonOf(sandbox.exec("cat", { stdin: stdin() }))).toBeInstanceOf(InvalidOptionsError);
  });
});

it("an env var without a value fails createSandbox(), and nothing is created", async () => {
  const cwd = temporaryRepository();
  const env = { KEY: () => Promise.reject(new Error("vault is sealed")) };
  expect(await reasonOf(open({ cwd, env }))).toMatchObject({ name: "EnvValueError", key: "KEY" });
  expectUntouched(cwd);
});

it("a secret that has been in the sandbox is redacted in the results and logs of later runs and calls; what is public is shown", async () => {
  const SECRET = "s3cr3t-value";
  let asked = 0;
  const keep = 'echo "<$TOKEN>" >> ~/tokens';
  const sandbox = await open({
    env: { TOKEN: () => `${SECRET}-${++asked}`, MODE: { public: "production-mode" } },
    hooks: { sandbox: { onSandboxReady: [{ command: keep }] } },
  });
  const agent = command(`${keep}; cat ~/tokens; echo "$MODE"`);
  const first = await sandbox.run({ agent, prompt: "x" });
  const second = await sandbox.run({ agent, prompt: "x", env: { TOKEN: `${SECRET}-of-the-run` } });
  const given = await sandbox.exec(`${keep}; echo "$TOKEN"`, { env: { TOKEN: `${SECRET}-of-the-command` } });
  expect(given.stdout).toBe(`${SECRET}-of-the-command\n`);
  const { stdout } = await sandbox.exec('cat ~/tokens; echo "$MODE"');
  expect(new Set(stdout.trim().split("\n")).size).toBe(5);

  expect(first.stdout).toMatch(/^(<\[redacted TOKEN.*\]>\n){2}production-mode\n$/);
  expect(second.stdout).toMatch(/^(<\[redacted TOKEN.*\]>\n){3}production-mode\n$/);
  expect(second.stdout).toContain("[redacted TOKEN (an earlier value)]");
  expect(logOf(sandbox)).toContain("exec: cat ~/tokens");
  expect(logOf(sandbox)).toContain("production-mode");
  expect(JSON.stringify([first, second]) + [first, second, sandbox].map(logOf).join("")).not.toContain(
    SECRET,
  );
});

it("`await using` reports on stderr what its result would hide: commits that were not merged", async () => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  const cwd = temporaryRepository();
  {
    await using worktree = await createWorktree({ branchStrategy: { type: "merge-to-head" }, cwd });
    const agent = scripted([{ commit: "Not merged" }, { exit: 3 }]);
    await worktree.run({ agent, sandbox: testIsolated(), prompt: "x" }).catch(() => {});
  }
  const branch = git(cwd, "for-each-ref", "--format=%(refname:short)", "refs/heads/sanddune");
  expect(printed.mock.calls.flat().join("\n")).toContain(`git log ${branch}`);
});
