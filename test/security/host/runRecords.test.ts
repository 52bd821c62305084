import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../../cli/callCli.ts";
import { ps } from "../../cli/runs/hangingRuns.ts";
import { startCli } from "../../cli/startCli.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

const GOOD = "20000101-000000-aaaaaa";
const BAD = "20000102-000000-bbbbbb";
const OWNER = { pid: 1, startTime: "1", bootId: "another", pidNamespace: "", host: hostname() };

/** Writes the journal of a run that never was, as a cloned repository could bring it. */
const plant = (cwd: string, runId: string, begun: object = {}, ...entries: object[]): void => {
  const directory = join(cwd, ".sanddune/runs", runId);
  mkdirSync(directory, { recursive: true });
  const first = { type: "begun", runId, kind: "run", owner: OWNER, strategy: "branch", sourceBranch: "b" };
  const lines = [{ ...first, ...begun }, ...entries].map((entry) => ({
    ...{ at: "2000-01-01T00:00:00.000Z" },
    ...entry,
  }));
  writeFileSync(join(directory, "journal.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
};

const worktreeWith = (name: string) => (cwd: string) => ({
  ...{ type: "creating", what: "worktree" },
  name: join(cwd, ".sanddune/worktrees", name),
});

interface Nonsense {
  readonly what: string;
  readonly begun?: object;
  readonly entries?: readonly (object | ((cwd: string) => object))[];
}

const NONSENSE: readonly Nonsense[] = [
  { what: "a time that is none", begun: { at: "yesterday" } },
  { what: "a name that is an object", begun: { name: { first: "x" } } },
  { what: "an agent that is a number", begun: { agent: 5 } },
  { what: "a sandbox that is a list", begun: { sandbox: [] } },
  { what: "a kind that is no text", begun: { kind: { toString: 1 } } },
  { what: "a branch that is an object", begun: { sourceBranch: { name: "x" } } },
  { what: "a target that is a number", begun: { strategy: "merge-to-head", targetBranch: 5 } },
  { what: "a place for files that is a number", begun: { sandbox: "bubblewrap", temporaryDirectory: 5 } },
  { what: "an iteration without anything", entries: [{ type: "iteration" }] },
  { what: "usage that is nothing", entries: [{ type: "iteration", commits: [], usage: null }] },
  { what: "usage that is text", entries: [{ type: "iteration", commits: 5, usage: "much" }] },
  { what: "an end that is an object", entries: [{ type: "ended", state: { is: "over" } }] },
  { what: "an end that nobody has described", entries: [{ type: "ended", state: "running" }] },
  { what: "a worktree with a NUL in its name", entries: [worktreeWith("a\0b")] },
  { what: "things without names", entries: [{ type: "creating" }, { type: "creating", what: "sandbox" }] },
];

describe("a journal that came with a clone", () => {
  it.each(NONSENSE)("does not get in the way of other runs with $what", async ({ begun, entries = [] }) => {
    const cwd = temporaryRepository();
    plant(cwd, GOOD);
    plant(cwd, BAD, begun, ...entries.map((entry) => (typeof entry === "function" ? entry(cwd) : entry)));
    for (const command of [["ps"], ["ps", "--json"], ["clean"], ["clean", "--yes"], ["stop", GOOD]]) {
      const { stdout, stderr } = await runCli(command, { cwd });
      expect(`${stdout}${stderr}`).not.toMatch(/TypeError|is not a function|^\s+at |a bug|SANDDUNE_DEBUG/m);
      if (command[0] !== "clean") expect(stdout).toContain(GOOD);
    }
    const { stdout } = await runCli(["complete", "--", "logs", ""], { cwd });
    expect(stdout).toContain(GOOD);
  });

  it.each([
    { what: "everything of the user", owner: { ...OWNER, pid: -1, host: "elsewhere" } },
    { what: "a part of a process", owner: { ...OWNER, pid: 1.5, host: "elsewhere" } },
    { what: "a process on no machine", owner: { pid: 1 } },
  ])("is not of a run if its owner is $what", async ({ owner }) => {
    const cwd = temporaryRepository();
    plant(cwd, BAD, { owner });
    expect(await ps(cwd)).toEqual([]);
  });

  it.each(["x; touch planted #", "$(touch planted)", "-x", "--yes", "a\nb", "x\u001b[31m", "20000101"])(
    "is not of a run if no run is ever called %j",
    async (runId) => {
      const cwd = temporaryRepository();
      plant(cwd, runId);
      plant(cwd, GOOD);
      expect(await ps(cwd)).toEqual([expect.objectContaining({ runId: GOOD })]);
      const { stdout } = await runCli(["complete", "--", "clean", "--run", ""], { cwd });
      expect(stdout.split("\n").filter(Boolean)).toHaveLength(1);
    },
  );
});

describe("the run log that a journal names", () => {
  const logsOf = async (logFilePath: (cwd: string) => string) => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, ".sanddune/.env"), "KEY=not-for-any-terminal\n");
    plant(cwd, BAD, { logFilePath: logFilePath(cwd) });
    const { child, result } = startCli(["logs", BAD], { cwd });
    onTestFinished(() => void child.kill("SIGKILL"));
    return result;
  };

  const fifo = (): string => {
    const path = join(temporaryDirectory(), "fifo");
    execFileSync("mkfifo", [path]);
    return path;
  };

  const link = (): string => {
    const path = join(temporaryDirectory(), "link");
    symlinkSync("/dev/zero", path);
    return path;
  };

  it.each([
    { what: "the env file", path: (cwd: string) => join(cwd, ".sanddune/.env") },
    { what: "a device", path: () => "/dev/zero" },
    { what: "a directory", path: () => "/" },
    { what: "a pipe that nobody writes to", path: fifo },
    { what: "a link", path: link },
    { what: "no path at all", path: () => "\0" },
  ])("is not read if it is $what", async ({ path }) => {
    const { exitCode, stdout, stderr } = await logsOf(path);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(BAD);
    expect(stderr).not.toMatch(/not-for-any-terminal|SANDDUNE_DEBUG|EISDIR/);
  });
});
