import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../../cli/callCli.ts";
import { clean, deadRun, ps, worktreeOf } from "../../cli/runs/hangingRuns.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { PAYLOADS } from "../git/gitPayloads.ts";
import { canaries } from "../lasting/lasting.ts";

/** Everything that the everyday commands do to a dead run, the most thorough last. */
const COMMANDS = [["ps"], ["ps", "--json"], ["clean"], ["clean", "--yes"]];

describeWith(["bubblewrap"], "what a dead agent has planted", () => {
  it("runs nowhere: not in its git directory, not in its worktree, not in repositories within", async () => {
    const { fire, fired } = canaries();
    const script = PAYLOADS.map(({ name, plant }) => `( ${plant(fire(name))}\n) > /dev/null 2>&1`).join("\n");
    const { cwd, runId } = await deadRun({ script });
    expect(existsSync(join(worktreeOf(cwd), "nested/.git"))).toBe(true);
    expect(
      git(worktreeOf(cwd), "config", "--file", fileOf(cwd, runId, "git/config"), "core.fsmonitor"),
    ).toContain("touch");
    for (const command of [...COMMANDS, ["clean", "--yes", "--run", runId]]) {
      expect((await runCli(command, { cwd })).exitCode).toBe(0);
      expect(fired()).toEqual([]);
    }
    expect(existsSync(worktreeOf(cwd))).toBe(false);
  });

  it("leads nowhere, whatever is a link to somewhere else", async () => {
    const { cwd, runId } = await deadRun();
    const worktree = worktreeOf(cwd);
    const outside = temporaryDirectory();
    const targets = ["worktree", "files", "archive", "run", "log"].map((name) => join(outside, name));
    for (const target of targets) {
      mkdirSync(target);
      writeFileSync(join(target, "precious"), "");
    }
    const [atWorktree = "", atFiles = "", atArchive = "", atRun = "", atLog = ""] = targets;
    // Even one that git would take for the worktree, because it points back to the repository.
    cpSync(join(worktree, ".git"), join(atWorktree, ".git"));
    rmSync(worktree, { recursive: true });
    symlinkSync(atWorktree, worktree);
    const files = fileOf(cwd, runId, "");
    renameSync(files, `${files}-before`);
    symlinkSync(atFiles, files);
    symlinkSync(join(atArchive, "precious"), fileOf(cwd, runId, "../rescue.tar"));
    symlinkSync(atRun, join(cwd, ".sanddune/runs/20000101-000000-abcdef"));
    rmSync(join(cwd, ".sanddune/logs", `${runId}.log`));
    symlinkSync(join(atLog, "precious"), join(cwd, ".sanddune/logs", `${runId}.log`));
    for (const command of [
      ...COMMANDS,
      ["clean", "--yes", "--records"],
      ["clean", "--yes", "--run", runId],
    ]) {
      await runCli(command, { cwd });
      expect(targets.filter((target) => !existsSync(join(target, "precious")))).toEqual([]);
    }
  });
});

/** The journal of a run that never was, as a commit could bring it. */
const plantJournal = (cwd: string, begun: object, ...entries: object[]): string => {
  const runId = "20000101-000000-abcdef";
  const directory = join(cwd, ".sanddune/runs", runId);
  mkdirSync(directory, { recursive: true });
  const owner = { pid: 1, startTime: "1", bootId: "another", pidNamespace: "", host: hostname() };
  const lines = [
    { type: "begun", runId, kind: "run", owner, strategy: "branch", sourceBranch: "b", ...begun },
    ...entries,
  ];
  writeFileSync(
    join(directory, "journal.jsonl"),
    lines.map((line) => `${JSON.stringify({ at: "2000-01-01T00:00:00.000Z", ...line })}\n`).join(""),
  );
  return runId;
};
const fileOf = (cwd: string, runId: string, path: string) =>
  join(cwd, ".sanddune/runs", runId, "files", path);

describe("a journal that came with a commit", () => {
  it.each(["bubblewrap", "test-isolated"])(
    "cannot have a directory removed by the name of a %s sandbox",
    async (sandbox) => {
      const cwd = temporaryRepository();
      const victim = temporaryDirectory();
      const runId = plantJournal(
        cwd,
        {
          sandbox,
          temporaryDirectory: "/",
        },
        { type: "creating", what: "sandbox", name: `x/..${victim}` },
      );
      expect(await ps(cwd)).toContainEqual(expect.objectContaining({ runId, state: "dead" }));
      await clean(cwd, "--yes");
      await clean(cwd, "--yes", "--run", runId);
      expect(existsSync(victim)).toBe(true);
    },
  );

  it("cannot have a branch of the user removed, even if it is merged", async () => {
    const cwd = temporaryRepository();
    git(cwd, "branch", "mine");
    const runId = plantJournal(
      cwd,
      {
        strategy: "merge-to-head",
        targetBranch: "main",
      },
      { type: "creating", what: "branch", name: "mine" },
    );
    await clean(cwd, "--yes");
    await clean(cwd, "--yes", "--run", runId);
    expect(git(cwd, "rev-parse", "mine")).toBe(git(cwd, "rev-parse", "main"));
  });

  it("cannot have a worktree of the user removed", async () => {
    const cwd = temporaryRepository();
    const checkout = join(temporaryDirectory(), "mine");
    git(cwd, "worktree", "add", "--quiet", "-b", "mine", checkout);
    const runId = plantJournal(
      cwd,
      { sourceBranch: "mine" },
      { type: "creating", what: "worktree", name: checkout },
      { type: "creating", what: "worktree", name: cwd },
    );
    await clean(cwd, "--yes");
    await clean(cwd, "--yes", "--run", runId);
    expect(existsSync(join(checkout, "README.md"))).toBe(true);
    expect(existsSync(join(cwd, "README.md"))).toBe(true);
  });
});

it("a journal that is a link to something that never ends is not read", async () => {
  const cwd = temporaryRepository();
  const directory = join(cwd, ".sanddune/runs/20000101-000000-abcdef");
  mkdirSync(directory, { recursive: true });
  symlinkSync("/dev/zero", join(directory, "journal.jsonl"));
  expect(await ps(cwd)).toEqual([]);
});

it.each(["", "runs", "logs", "worktrees"])(
  "the config directory's part %j as a link is refused",
  async (part) => {
    const cwd = temporaryRepository();
    const outside = temporaryDirectory();
    if (part !== "") mkdirSync(join(cwd, ".sanddune"));
    symlinkSync(outside, join(cwd, ".sanddune", part));
    for (const command of [["ps"], ["clean", "--yes"], ["stop", "x"], ["logs", "x"]]) {
      const { exitCode, stdout, stderr } = await runCli(command, { cwd });
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toContain(basename(join(cwd, ".sanddune", part)));
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  },
);
