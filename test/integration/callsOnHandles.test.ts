import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  command,
  createSandbox,
  createWorktree,
  InvalidOptionsError,
  type Sandbox,
  scripted,
} from "../../src/index.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const open = async (): Promise<Sandbox> => {
  const cwd = temporaryRepository();
  const sandbox = await createSandbox({ branch: "agent/work", sandbox: testIsolated(), cwd });
  onTestFinished(async () => void (await sandbox.close()));
  return sandbox;
};

const reasonOf = (running: Promise<unknown>) =>
  running.then(
    () => expect.fail("did not reject"),
    (reason: unknown) => reason,
  );

describe("exec()", () => {
  it("rejects with the very error that a callback has thrown, and the command is ended", async () => {
    const sandbox = await open();
    const reason = new RangeError("enough");
    const onLine = () => {
      throw reason;
    };
    expect(await reasonOf(sandbox.exec("echo line; sleep 1000", { onLine }))).toBe(reason);
    expect((await sandbox.exec("echo on")).stdout).toBe("on\n");
  });

  it("rejects with the very error that its input has thrown", async () => {
    const sandbox = await open();
    const reason = new RangeError("no more");
    const stdin = async function* () {
      yield Buffer.from("some");
      throw reason;
    };
    expect(await reasonOf(sandbox.exec("cat", { stdin: stdin() }))).toBe(reason);
  });

  it("that is refused does not stand in the way of the next one's own error", async () => {
    const sandbox = await open();
    const plant = (name: string) =>
      sandbox.exec(
        `mkdir -p .sanddune/logs && echo x > .sanddune/logs/${name} && git add -f . && git commit -qm x`,
      );
    for (const name of ["one", "two"]) {
      expect(await reasonOf(plant(name))).toMatchObject({ name: "ImportRefusedError" });
    }
  });

  it("that is killed in the middle of git's work leaves nothing locked", async () => {
    const sandbox = await open();
    const controller = new AbortController();
    const reason = new Error("enough");
    const line = "touch .git/index.lock .git/refs/heads/agent/work.lock && echo locked && sleep 1000";
    const running = sandbox.exec(line, {
      signal: controller.signal,
      onLine: () => controller.abort(reason),
    });
    expect(await reasonOf(running)).toBe(reason);
    const { commits } = await sandbox.exec("git commit --allow-empty --quiet -m Next");
    expect(commits).toHaveLength(1);
  });

  it("cannot read from another call on the same sandbox", async () => {
    const sandbox = await open();
    const stdin = async function* () {
      yield Buffer.from((await sandbox.exec("echo never")).stdout);
    };
    expect(await reasonOf(sandbox.exec("cat", { stdin: stdin() }))).toBeInstanceOf(InvalidOptionsError);
  });

  it("tells what a person should look at", async () => {
    const sandbox = await open();
    const { protectedPaths, commits } = await sandbox.exec(
      "echo 'run me' > .envrc && git add . && git commit --quiet -m Envrc",
    );
    expect(protectedPaths).toEqual([".envrc"]);
    expect(commits).toHaveLength(1);
    expect((await sandbox.exec("true")).protectedPaths).toEqual([]);
  });

  it("keeps the secrets of all commands before it out of the log, and shows what is public", async () => {
    const sandbox = await open();
    const first = "first-secret-value";
    await sandbox.exec('printf %s "$TOKEN" > kept', { env: { TOKEN: first } });
    await sandbox.exec("true", {
      env: { TOKEN: "second-secret-value", MODE: { public: "production-mode" } },
    });
    await sandbox.exec("cat kept; echo production-mode");
    const log = readFileSync(sandbox.logFilePath as string, "utf8");
    expect(log).not.toContain(first);
    expect(log).toContain("production-mode");
    const run = await sandbox.run({ agent: command("echo production-mode; cat kept"), prompt: "x" });
    expect(run.stdout).toContain("production-mode");
    expect(run.stdout).not.toContain(first);
  });
});

describe("calls on one sandbox", () => {
  it("can be any number at once, without a word from Node", async () => {
    const warned: Error[] = [];
    const onWarning = (warning: Error) => warned.push(warning);
    process.on("warning", onWarning);
    const sandbox = await open();
    const all = await Promise.all(Array.from({ length: 15 }, (_, index) => sandbox.exec(`echo ${index}`)));
    process.off("warning", onWarning);
    expect(all.map(({ stdout }) => Number(stdout))).toEqual(Array.from({ length: 15 }, (_, index) => index));
    expect(warned).toEqual([]);
  });

  it("can be made by what listens to a run, and come after it", async () => {
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
  });

  it("cannot be what a value of another one waits for; a sandbox of its own can", async () => {
    const [sandbox, other] = [await open(), await open()];
    const agent = command("true");
    const from = (source: Sandbox) => ({
      agent,
      prompt: "x",
      env: { TOKEN: async () => (await source.exec("echo a-secret-value")).stdout.trim() },
    });
    const reason = await reasonOf(sandbox.run(from(sandbox)));
    expect(String(reason)).toMatch(/TOKEN/);
    expect((reason as { cause: unknown }).cause).toBeInstanceOf(InvalidOptionsError);
    expect((await sandbox.run(from(other))).iterations).toHaveLength(1);
  });
});

it("`await using` says on stderr what nobody would see: commits that were not merged", async () => {
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
