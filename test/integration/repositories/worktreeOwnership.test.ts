import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  BranchInUseError,
  ClosedError,
  type CreateWorktreeOptions,
  command,
  createWorktree,
  SandboxError,
  type SandboxRunResult,
  type ScriptedStep,
  scripted,
  type Worktree,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import {
  failureOf,
  journalsOf,
  meetingPoint,
  play,
  SANDBOXES,
  type SandboxName,
  STRATEGIES,
  shell,
} from "../../security/support.ts";

const PROVIDERS: [SandboxName, Runtime[]][] = [
  ["bubblewrap", ["bubblewrap"]],
  ["isolated", []],
];

const worktreeIn = (
  cwd: string,
  branchStrategy: CreateWorktreeOptions["branchStrategy"] = STRATEGIES.branch,
) => createWorktree({ cwd, branchStrategy });
const task = (...steps: ScriptedStep[]) => ({ agent: scripted(steps), prompt: "Work" });
const work = (worktree: Worktree, steps: ScriptedStep[], sandbox: SandboxProvider = testIsolated()) =>
  worktree.run({ ...task(...steps), sandbox });

const subjects = (cwd: string, range = "main..agent/work") =>
  git(cwd, "log", "--reverse", "--format=%s", range);
const subjectsOf = (cwd: string, { commits }: Pick<SandboxRunResult, "commits">): string[] =>
  commits.map(({ sha }) => git(cwd, "log", "-1", "--format=%s", sha));

/** Containers that were made for a repository and are still there. */
const containersOf = (cwd: string): string[] => {
  const names = journalsOf(cwd).flatMap((journal) => [
    ...journal.matchAll(/"what":"sandbox","name":"([^"]+)"/g),
  ]);
  const filters = names.flatMap(([, name]) => ["--filter", `name=${name}`]);
  const listed = execFileSync("docker", ["ps", "--all", "--format", "{{.Names}}", ...filters], {
    encoding: "utf8",
  });
  return listed.split("\n").filter((line) => line !== "");
};

describeWith(["docker"], "docker sandboxes over a worktree", () => {
  it("go one by one when they are closed, and with the worktree", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    const sandbox = docker({ imageName: TEST_IMAGE });
    const [first, second] = await Promise.all([
      worktree.createSandbox({ sandbox }),
      worktree.createSandbox({ sandbox }),
    ]);
    await first.run(task({ commit: "One" }));
    expect(containersOf(cwd)).toHaveLength(2);
    expect(await first.close()).toEqual({ commits: expect.any(Array), warnings: [] });
    expect(containersOf(cwd)).toHaveLength(1);
    expect(await worktree.close()).toEqual({ commits: expect.any(Array), warnings: [] });
    expect(containersOf(cwd)).toHaveLength(0);
    expect(await second.close()).toMatchObject({ warnings: [] });
    expect(subjects(cwd)).toBe("One");
    expect(leftovers(cwd)).toEqual([]);
  });
});

for (const [name, runtimes] of PROVIDERS) {
  const make = SANDBOXES[name];

  describeWith(runtimes, `a sandbox over a worktree, ${name},`, () => {
    it("goes alone when it is closed: the worktree stays, holds its branch, and can be worked in", async () => {
      const cwd = temporaryRepository();
      const worktree = await worktreeIn(cwd);
      const sandbox = await worktree.createSandbox({ sandbox: make() });
      expect(sandbox).toMatchObject({ branch: "agent/work", worktreePath: worktree.worktreePath });
      await sandbox.run(task({ commit: "One", files: { "one.txt": "1\n" } }, shell("echo half > open.txt")));
      expect(await sandbox.close()).toEqual({ commits: expect.any(Array), warnings: [] });

      await expect(sandbox.run(task({ commit: "Never" }))).rejects.toBeInstanceOf(ClosedError);
      expect(readFileSync(join(worktree.worktreePath, "open.txt"), "utf8")).toBe("half\n");
      const onItsBranch = { sandbox: make(), branchStrategy: STRATEGIES.branch };
      expect(await failureOf(play(cwd, [], onItsBranch))).toBeInstanceOf(BranchInUseError);

      const second = await worktree.createSandbox({ sandbox: make() });
      expect((await second.exec("cat one.txt open.txt")).stdout).toBe("1\nhalf\n");
      await second.close();
      const last = await work(worktree, [{ commit: "Two" }], make());
      expect(subjectsOf(cwd, last)).toEqual(["Two"]);
      expect(git(cwd, "show", "agent/work:open.txt")).toBe("half");
      expect(await worktree.close()).toEqual({ commits: expect.any(Array), warnings: [] });
      expect(leftovers(cwd)).toEqual([]);
    });

    it("lands what its runs commit with merge-to-head, each time; goes with the worktree, and closing it afterwards is harmless", async () => {
      const cwd = temporaryRepository();
      const worktree = await worktreeIn(cwd, STRATEGIES["merge-to-head"]);
      const sandbox = await worktree.createSandbox({ sandbox: make() });
      expect((await sandbox.run(task({ commit: "One" }))).branch).toBe("main");
      expect(subjects(cwd, "main")).toBe("Initial commit\nOne");
      await sandbox.exec("git commit --quiet --allow-empty -m 'By a command'");
      expect(subjectsOf(cwd, await sandbox.run(task({ commit: "Two" })))).toEqual(["Two"]);
      expect(subjects(cwd, "main")).toBe("Initial commit\nOne\nBy a command\nTwo");
      expect(await worktree.close()).toMatchObject({ warnings: [] });
      expect(await sandbox.close()).toMatchObject({ warnings: [] });
      await expect(sandbox.exec("true")).rejects.toBeInstanceOf(ClosedError);
      expect(leftovers(cwd)).toEqual([]);
    });

    it("stops the run that is in progress when the worktree is closed, and all that wait, and imports the commits", async () => {
      const cwd = temporaryRepository();
      const { sandboxes, wait, meet } = meetingPoint();
      const worktree = await worktreeIn(cwd);
      const sandbox = await worktree.createSandbox({ sandbox: make() });
      const calls = [
        failureOf(work(worktree, [{ commit: "One" }, wait, { commit: "Never" }], sandboxes[name]())),
      ];
      let closing: Promise<unknown> | undefined;
      await meet(async () => {
        calls.push(
          failureOf(work(worktree, [{ commit: "Never" }])),
          failureOf(sandbox.run(task({ commit: "Never" }))),
        );
        closing = worktree.close();
        await Promise.all(calls);
      });
      for (const error of await Promise.all(calls)) expect(error).toBeInstanceOf(ClosedError);
      expect(await closing).toEqual({ commits: expect.any(Array), warnings: [] });
      expect(subjects(cwd)).toBe("One");
      expect(subjectsOf(cwd, { commits: (await calls[0])?.commits ?? [] })).toEqual(["One"]);
      const onItsBranch = { sandbox: make(), branchStrategy: STRATEGIES.branch };
      expect((await play(cwd, [{ commit: "Two" }], onItsBranch)).commits).toHaveLength(1);
      expect(leftovers(cwd)).toEqual([]);
    });
  });
}

describeWith(["bubblewrap"], "sandboxes over one worktree", () => {
  const FILES = { "other.txt": "other\n" };

  it("that are bind-mounted see what was committed, and left, through another one meanwhile", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    const open = await worktree.createSandbox({ sandbox: bubblewrap() });
    await open.run(task({ commit: "One" }));
    await work(worktree, [{ commit: "Elsewhere", files: FILES }, shell("echo half > open.txt")]);

    const look = "git log --reverse --format=%s main..; cat other.txt; git status --porcelain";
    expect(await open.exec(look)).toMatchObject({
      stdout: "One\nElsewhere\nother\n?? open.txt\n",
      commits: [],
    });
    expect(subjectsOf(cwd, await open.run(task({ commit: "Two" })))).toEqual(["Two"]);
    expect(subjects(cwd)).toBe("One\nElsewhere\nTwo");
    await worktree.close();
    expect(leftovers(cwd)).toEqual([]);
  });

  it("that are isolated say that they cannot take such commits in, and nothing is lost", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    const open = await worktree.createSandbox({ sandbox: testIsolated() });
    await work(worktree, [{ commit: "Elsewhere", files: FILES }], bubblewrap());
    const error = await failureOf(open.run(task({ commit: "Never" })));
    expect(error).toBeInstanceOf(SandboxError);
    expect(error.message).toMatch(/Close it and create another one/);
    await open.close();
    expect(subjectsOf(cwd, await work(worktree, [shell("cat other.txt"), { commit: "Two" }]))).toEqual([
      "Two",
    ]);
    expect(subjects(cwd)).toBe("Elsewhere\nTwo");
    await worktree.close();
  });

  it.each(["bubblewrap", "isolated"] as const)(
    "of which one in %s is closed do not lose what was committed since its last call",
    async (name) => {
      const cwd = temporaryRepository();
      const worktree = await worktreeIn(cwd);
      const idle = await worktree.createSandbox({ sandbox: SANDBOXES[name]() });
      await idle.run(task({ commit: "One" }));
      await work(worktree, [{ commit: "Elsewhere", files: FILES }], bubblewrap());
      expect(await idle.close()).toEqual({ commits: expect.any(Array), warnings: [] });
      expect(subjects(cwd)).toBe("One\nElsewhere");
      expect(git(worktree.worktreePath, "status", "--porcelain")).toBe("");
      expect(await worktree.close()).toEqual({ commits: expect.any(Array), warnings: [] });
      expect(leftovers(cwd)).toEqual([]);
    },
  );

  it("that are isolated leave their uncommitted work in the worktree, whatever comes after it", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    const sandbox = await worktree.createSandbox({ sandbox: testIsolated() });
    const isThere = () => existsSync(join(worktree.worktreePath, "open.txt"));
    await sandbox.exec("echo half > open.txt");
    for (const _ of [1, 2]) {
      await sandbox.exec("true");
      expect(isThere()).toBe(true);
    }
    await sandbox.close();
    expect(isThere()).toBe(true);
    expect((await worktree.close()).preservedWorktreePath).toBe(worktree.worktreePath);
  });

  it("and the worktree itself take turns: no two calls are ever at work at once", async () => {
    const cwd = temporaryRepository();
    const directory = temporaryDirectory();
    const sandbox = bubblewrap({ mounts: [{ hostPath: directory, sandboxPath: directory }] });
    const line = `echo begin >> ${directory}/log; sleep 0.1; echo end >> ${directory}/log`;
    const worktree = await worktreeIn(cwd);
    const [one, two] = await Promise.all([
      worktree.createSandbox({ sandbox }),
      worktree.createSandbox({ sandbox }),
    ]);
    await Promise.all([
      one.run(task(shell(line), { commit: "One" })),
      work(worktree, [shell(line), { commit: "Two" }], sandbox),
      two.exec(line),
      two.run(task(shell(line), { commit: "Three" })),
      work(worktree, [shell(line), { commit: "Four" }], sandbox),
      one.exec(line),
    ]);
    expect(readFileSync(join(directory, "log"), "utf8")).toBe("begin\nend\n".repeat(6));
    expect(subjects(cwd).split("\n").sort()).toEqual(["Four", "One", "Three", "Two"]);
    await worktree.close();
    expect(leftovers(cwd)).toEqual([]);
  });
});

describe("closing a worktree", () => {
  it("happens once, however often and however many at once ask for it, keeps one with uncommitted work, and says where it is", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    const file = join(worktree.worktreePath, "open.txt");
    writeFileSync(file, "half\n");
    const results = [...(await Promise.all([worktree.close(), worktree.close()])), await worktree.close()];
    expect(results).toEqual(
      Array(3).fill({
        commits: expect.any(Array),
        preservedWorktreePath: worktree.worktreePath,
        warnings: [],
      }),
    );
    expect(readFileSync(file, "utf8")).toBe("half\n");
    const onItsBranch = { sandbox: testIsolated(), branchStrategy: STRATEGIES.branch };
    expect((await play(cwd, [{ commit: "Two" }], onItsBranch)).commits).toHaveLength(1);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("is the end: run(), createSandbox() and interactive() reject, and make nothing", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    await worktree.close();
    const calls: (() => Promise<unknown>)[] = [
      () => work(worktree, [{ commit: "Never" }]),
      () => worktree.createSandbox({ sandbox: testIsolated() }),
      () => worktree.interactive({ agent: command("sh", { interactive: "sh" }) }),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ name: "ClosedError", handle: "worktree" });
    }
    expect(leftovers(cwd)).toEqual([]);
  });

  it("happens by itself at the end of a block", async () => {
    const cwd = temporaryRepository();
    const path = await (async () => {
      await using worktree = await worktreeIn(cwd);
      await work(worktree, [{ commit: "One" }]);
      return worktree.worktreePath;
    })();
    expect(existsSync(path)).toBe(false);
    expect(subjects(cwd)).toBe("One");
    expect(leftovers(cwd)).toEqual([]);
  });
});
