import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, type EnvValue, type RunOptions, run } from "../../src/index.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { expectUntouched } from "../cli/fixtures.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { processIsAlive, waitFor } from "../helpers/waiting.ts";

const start = (cwd: string, options: Partial<RunOptions>) =>
  run({ agent: command("true"), sandbox: testIsolated(), cwd, prompt: "Work", ...options } as RunOptions);

const failureOf = (running: Promise<unknown>) =>
  running.then(
    () => expect.fail("the run succeeded"),
    (error) => error,
  );

describe("functions and commands are asked", () => {
  it("once for each run, however many iterations, hooks and expressions it has", async () => {
    const cwd = temporaryRepository();
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "prompt.md"), '!`echo "$A"` !`echo "$B"`');
    let asked = 0;
    const result = await run({
      agent: command("cat"),
      sandbox: testIsolated(),
      cwd,
      promptFile: join(directory, "prompt.md"),
      maxIterations: 3,
      hooks: { sandbox: { onSandboxReady: [{ command: "true" }, { command: "true" }] } },
      env: { A: () => `answer ${++asked}`, B: { command: `echo asked | tee -a ${directory}/asked` } },
    });
    expect(result.iterations).toHaveLength(3);
    expect(asked).toBe(1);
    expect(readFileSync(join(directory, "asked"), "utf8")).toBe("asked\n");
  });

  it("before anything is created", async () => {
    const cwd = temporaryRepository();
    let checked = false;
    const A = () => {
      expectUntouched(cwd);
      checked = true;
      return "value";
    };
    await start(cwd, { env: { A } });
    expect(checked).toBe(true);
  });

  it("not at all if something else is wrong", async () => {
    const cwd = temporaryRepository();
    let asked = 0;
    const ask = () => `${++asked}`;
    const branchStrategy = { type: "branch", branch: "a..b" } as const;
    expect(await failureOf(start(cwd, { env: { A: ask }, branchStrategy }))).toMatchObject({
      name: "InvalidBranchNameError",
    });
    expect(asked).toBe(0);
    expectUntouched(cwd);
  });
});

it("a key that is declared and nowhere set is not set in the sandbox, and the result says so", async () => {
  const agent = command("printenv NOWHERE_SET || echo unset");
  const result = await start(temporaryRepository(), { agent, env: { NOWHERE_SET: undefined } });
  expect(result.stdout).toBe("unset\n");
  expect(result.warnings).toEqual([expect.stringContaining("NOWHERE_SET")]);
});

const FAILING: Readonly<Record<string, [EnvValue, RegExp]>> = {
  "a command that fails": [{ command: "echo locked >&2; exit 3" }, /exit code 3.*locked/s],
  "a command that does not exist": [{ command: "no-such-program-here" }, /exit code 127/],
  "a command that hangs": [{ command: "echo waiting >&2; sleep 600", timeoutMs: 300 }, /300 ms.*waiting/s],
  "a command that is killed": [{ command: "kill -9 $$" }, /exit code 137/],
  "a command that prints too much": [{ command: "head -c 200000 /dev/zero | tr '\\0' x" }, /longer than/],
  "a command that prints nothing": [{ command: "echo" }, /printed nothing/],
  "a command that prints NUL": [{ command: "printf 'a\\0b'" }, /NUL/],
  "a function that throws": [
    () => {
      throw new Error("vault is sealed");
    },
    /vault is sealed/,
  ],
  "a function that rejects": [() => Promise.reject(new Error("vault is sealed")), /vault is sealed/],
  "a function that returns no string": [(() => 42) as never, /did not return a string/],
  "a function that returns nothing": [(async () => undefined) as never, /did not return a string/],
  "a value with NUL": ["a\0b", /NUL/],
  "a value that is too long": ["x".repeat(130 * 1024), /longer than/],
};

describe("a value that cannot be had is an EnvValueError that names the key, and nothing is created:", () => {
  it.each(Object.entries(FAILING))("%s", async (_, [value, message]) => {
    const cwd = temporaryRepository();
    const error = await failureOf(start(cwd, { env: { FINE: "fine", BROKEN: value } }));
    expect(error).toMatchObject({ name: "EnvValueError", key: "BROKEN" });
    expect(error.message).toContain("BROKEN");
    expect(error.message).toMatch(message);
    expectUntouched(cwd);
  });

  it("the cause of a function's failure is kept", async () => {
    const cause = new Error("vault is sealed");
    const error = await failureOf(start(temporaryRepository(), { env: { A: () => Promise.reject(cause) } }));
    expect(error.cause).toBe(cause);
  });

  it("other commands are ended with it", async () => {
    const pidFile = join(temporaryDirectory(), "pid");
    const env = {
      SLOW: { command: `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 600` },
      BROKEN: { command: `until [ -e ${pidFile} ]; do sleep 0.02; done; exit 1` },
    };
    await failureOf(start(temporaryRepository(), { env }));
    const pid = Number(readFileSync(pidFile, "utf8"));
    const stillRuns = processIsAlive(pid);
    if (stillRuns) process.kill(pid, "SIGKILL");
    expect(stillRuns).toBe(false);
  });
});

describe("an abort while values are asked for", () => {
  it("ends the command, rejects with the reason, and nothing is created", async () => {
    const cwd = temporaryRepository();
    const pidFile = join(temporaryDirectory(), "pid");
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const command = `trap '' TERM; echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; while :; do sleep 1; done`;
    const running = failureOf(start(cwd, { env: { A: { command } }, signal: controller.signal }));
    await waitFor(() => existsSync(pidFile));
    controller.abort(reason);
    expect(await running).toBe(reason);
    expect(processIsAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false);
    expectUntouched(cwd);
  });

  it("does not wait for a function", async () => {
    const cwd = temporaryRepository();
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const A = () => {
      controller.abort(reason);
      return new Promise<string>(() => {});
    };
    expect(await failureOf(start(cwd, { env: { A }, signal: controller.signal }))).toBe(reason);
    expectUntouched(cwd);
  });
});

describe("refused before anything is created:", () => {
  it("a key of the agent provider and of the sandbox provider", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(
      start(cwd, {
        agent: command("true", { env: { KEY: "s3cret-of-agent" } }),
        sandbox: testIsolated({ env: { KEY: "s3cret-of-sandbox" } }),
        env: { KEY: () => expect.fail("was asked") },
      }),
    );
    expect(error).toMatchObject({ name: "EnvOverlapError", keys: ["KEY"] });
    expect(`${error.stack}${JSON.stringify(error)}`).not.toContain("s3cret");
    expectUntouched(cwd);
  });

  it("an env file that git tracks", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, ".sanddune/.env"), "KEY=s3cret-value\n");
    git(cwd, "add", "--force", ".sanddune/.env");
    const error = await failureOf(start(cwd, {}));
    expect(error).toMatchObject({ name: "InvalidOptionsError", option: ".sanddune/.env" });
    expect(error.message).toContain("git rm --cached");
    expect(error.stack).not.toContain("s3cret-value");
    expect(existsSync(join(cwd, ".sanddune/runs"))).toBe(false);
  });

  it.each([
    ["a number", 42],
    ["null", null],
    ["a list", ["s3cret"]],
    ["an unknown kind", { file: "s3cret" }],
    ["an empty command", { command: "" }],
    ["a command with an unknown member", { command: "true", timeout: 5 }],
    ["a command that is public as well", { command: "true", public: "x" }],
    ["a public value that is no string", { public: 1 }],
  ])("%s as a value", async (_, value) => {
    const cwd = temporaryRepository();
    const error = await failureOf(start(cwd, { env: { KEY: value } as never }));
    expect(error).toMatchObject({ name: "InvalidOptionsError", option: "env" });
    expect(error.problem).toContain("KEY");
    expect(error.stack).not.toContain("s3cret");
    expectUntouched(cwd);
  });
});
