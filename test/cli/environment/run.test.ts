import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { startCli } from "../startCli.ts";
import { folder, greetings, hanging, hangingPids, ownServer } from "./environmentFolders.ts";

const env = (cwd: string, ...args: string[]) => runCli(["environment", ...args], { cwd });

const worktree = (greeting?: string): string =>
  folder(greeting === undefined ? {} : { "greeting.txt": greeting });

describe("sanddune environment run", () => {
  it("ends with 0 if all tests of the current directory pass, and says so", async () => {
    const { exitCode, stdout } = await env(worktree("Hello, Ada\n"), "run", greetings());
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^✓ greeting\/is-there {2}\d/m);
    expect(stdout).toMatch(/^✓ greeting\/names {2}\d/m);
    expect(stdout).toMatch(/\n\n2 of 2 tests passed\.\n$/);
  });

  it("ends with 1 if one fails, and says why", async () => {
    const { exitCode, stdout } = await env(worktree("Hello, Bob\n"), "run", greetings(), "greeting");
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^✗ greeting\/names .*\n {4}.*[\s\S]*Hello, Bob/m);
    expect(stdout).toMatch(/\n\n1 of 2 tests passed\.\n$/);
  });

  it("runs one test against another worktree, with parameters of the types that it wants", async () => {
    const flags = [
      "--worktree",
      worktree("Hello, Bob\nHello, Bob\n"),
      "--param",
      "name=Bob",
      "--param",
      "times=2",
    ];
    const args = ["run", greetings(), "greeting/names", ...flags];
    const { exitCode, stdout } = await env(temporaryDirectory(), ...args, "--json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      path: "greeting/names",
      passed: 1,
      failed: 0,
      total: 1,
      tests: [{ path: "greeting/names", passed: true, durationMs: expect.any(Number) }],
      error: null,
    });
  });

  it.each([
    [["greeting/nmaes"], '"greeting/names"'],
    [["--param", "name"], "write NAME=VALUE"],
    [["--param", "times=often"], '"often" is not a number'],
    [["--worktree", "/nowhere"], "--worktree: there is no directory /nowhere"],
  ])("ends with 2 for %j, and says what to write", async (flags, said) => {
    const { exitCode, stdout, stderr } = await env(worktree(), "run", greetings(), ...flags);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(said);
  });

  it("reports problems of the environment as JSON", async () => {
    const { exitCode, stdout } = await env(worktree(), "run", folder({}), "--json");
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { name: "EnvironmentError" } });
  });

  it("runs the tests of a server of its own", async () => {
    const { exitCode, stdout } = await env(worktree(), "run", ownServer());
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^✓ a .*\n✗ b .*\n {4}not b\n\n1 of 2 tests passed\.\n$/);
  });

  it("ends with everything that tests have started when it gets SIGTERM", async () => {
    const cwd = worktree();
    const { child, result } = startCli(["environment", "run", hanging(), "hangs"], { cwd });
    onTestFinished(() => void child.kill("SIGKILL"));
    await waitFor(() => hangingPids(cwd).length === 2 || child.exitCode !== null);
    child.kill("SIGTERM");
    expect(await result).toMatchObject({ exitCode: 143, stderr: expect.stringContaining("was stopped by") });
    expect(hangingPids(cwd).filter(processIsAlive)).toEqual([]);
  });
});

describeWith(["bubblewrap"], "sanddune environment run --sandbox", () => {
  const repository = (): string => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "greeting.txt"), "Hello, Ada\n");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Greet");
    return cwd;
  };

  it("tests a commit in a sandbox, and neither files that are not committed nor anything on this machine", async () => {
    const cwd = repository();
    git(cwd, "branch", "greets");
    writeFileSync(join(cwd, "greeting.txt"), "Hello, Bob\n");
    git(cwd, "commit", "--quiet", "--all", "-m", "Greet another");
    writeFileSync(join(cwd, "greeting.txt"), "Hello, Ada\n");
    const flags = ["run", greetings(), "--sandbox", "bubblewrap"];
    const head = await env(cwd, ...flags);
    expect(head.exitCode).toBe(1);
    expect(head.stdout).toMatch(/^✗ greeting\/names .*\n {4}.*[\s\S]*Hello, Bob/m);
    expect(head.stdout).toMatch(/\n\n1 of 2 tests passed\.\n$/);
    expect(head.stderr).toContain(
      `Testing the commit ${git(cwd, "rev-parse", "HEAD").slice(0, 7)} in a sandbox`,
    );
    const branch = await env(
      cwd,
      ...flags,
      "greeting/names",
      "--commit",
      "greets",
      "--param",
      "times=1",
      "--json",
    );
    expect(branch.exitCode).toBe(0);
    expect(JSON.parse(branch.stdout)).toMatchObject({
      path: "greeting/names",
      passed: 1,
      total: 1,
      error: null,
    });
  });

  it.each([
    [["--commit", "nowhere"], '--commit: there is no commit "nowhere"'],
    [["--sandbox", "bubblewrap", "greeting/nmaes"], '"greeting/names"'],
    [["--network", "host"], "--network needs --sandbox NAME"],
    [["--commit", "HEAD"], "--sandbox is missing"],
  ])("ends with 2 for %j, and says what to write", async (flags, said) => {
    const { exitCode, stdout, stderr } = await env(repository(), "run", greetings(), ...flags);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(said);
  });
});
