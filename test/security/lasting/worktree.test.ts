import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSandbox, createWorktree, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, needsRuntimes } from "../../helpers/runtimes/runtimes.ts";
import { startScene } from "../../integration/interactive/scenes.ts";
import { shell } from "../support.ts";
import {
  BRANCH,
  canaries,
  commitAsUser,
  ending,
  openSandbox,
  openWorktree,
  playIn,
  subjects,
} from "./lasting.ts";

needsRuntimes("bubblewrap");

describeWith(["bubblewrap"], "sandboxes over one worktree", () => {
  it("do not take each other's commits off the branch when they are closed", async () => {
    const cwd = temporaryRepository();
    const worktree = await openWorktree(cwd);
    const one = await worktree.createSandbox({ sandbox: bubblewrap() });
    const other = await worktree.createSandbox({ sandbox: bubblewrap() });
    await playIn(one, { commit: "One", files: { "1.txt": "1\n" } });
    await playIn(other, { commit: "Other", files: { "2.txt": "2\n" } });
    await one.close();
    expect(subjects(cwd, BRANCH)).toEqual(["Other", "One", "Initial commit"]);
    await worktree.run({ sandbox: bubblewrap(), agent: scripted([{ commit: "Third" }]), prompt: "Work" });
    await worktree.close();
    expect(subjects(cwd, BRANCH)).toEqual(["Third", "Other", "One", "Initial commit"]);
  });

  it("do not take the user's commits off the branch when a call was aborted before they had caught up", async () => {
    const cwd = temporaryRepository();
    const sandbox = await openSandbox(cwd);
    await playIn(sandbox, { commit: "Agent" });
    commitAsUser(sandbox.worktreePath, "User");
    for (const delayMs of [0, 5, 20, 60]) {
      await ending(sandbox.exec("true", { signal: AbortSignal.timeout(delayMs) }));
    }
    await sandbox.close();
    expect(subjects(cwd, BRANCH)).toEqual(["User", "Agent", "Initial commit"]);
  });
});

const repositoryWithPackage = (): string => {
  const cwd = temporaryRepository();
  mkdirSync(join(cwd, "packages/app"), { recursive: true });
  writeFileSync(join(cwd, "packages/app/a.txt"), "a\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Add a package");
  return cwd;
};

describeWith(["bubblewrap", "tmux"], "a session on the host after a hostile run", () => {
  const branchStrategy = { type: "branch", branch: BRANCH } as const;

  it("does not start outside of the worktree when the run has put a link in the place of its directory", async () => {
    const cwd = repositoryWithPackage();
    const elsewhere = temporaryDirectory();
    const link = `cd /sanddune/repo; rm -r packages/app; ln -s ${elsewhere} packages/app; git add --all; git commit -q -m Link`;
    const scene = startScene(
      [
        { call: "createWorktree", options: { branchStrategy, cwd: join(cwd, "packages/app") } },
        { call: "run", on: "worktree", sandbox: "bubblewrap", agent: link },
        { call: "interactive", on: "worktree", agent: "touch agent-was-here" },
      ],
      { cwd },
    );
    const { outcomes } = await scene.report();
    expect(outcomes[1]?.value).toMatchObject({ commits: [{}] });
    expect(outcomes[2]?.error?.name).toBe("InvalidOptionsError");
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it("does not run what the run has planted in nested repositories and in the worktree's git", async () => {
    const cwd = temporaryRepository();
    const { fire, fired } = canaries();
    const plant = `git init -q nested; git -C nested config core.fsmonitor '${fire("nested")}; :'; git config core.fsmonitor '${fire("top")}; :'; ln -s nested linked; echo open > open.txt`;
    const scene = startScene(
      [
        { call: "createWorktree", options: { branchStrategy } },
        { call: "run", on: "worktree", sandbox: "bubblewrap", agent: plant },
        {
          call: "interactive",
          on: "worktree",
          agent: "git status; git -C nested status; git -C linked status",
        },
      ],
      { cwd },
    );
    const { outcomes } = await scene.report();
    expect(outcomes[2]?.value).toMatchObject({ exitCode: 0 });
    expect(fired()).toEqual([]);
  });

  it("leaves no repository of the user that a sandbox which was open before can turn against them", async () => {
    const cwd = temporaryRepository();
    const { fire, fired } = canaries();
    const scene = startScene(
      [
        { call: "createWorktree", options: { branchStrategy } },
        { call: "createSandbox", on: "worktree", sandbox: "bubblewrap" },
        { call: "exec", command: "true" },
        { call: "interactive", on: "worktree", agent: "git init -q library" },
        { call: "exec", command: `git config -f library/.git/config core.fsmonitor '${fire("library")}; :'` },
        { call: "interactive", on: "worktree", agent: "git -C library status" },
      ],
      { cwd },
    );
    expect((await scene.report()).outcomes).toHaveLength(6);
    expect(fired()).toEqual([]);
  });
});

it("a worktree is not made, and a sandbox is not opened, below a .sanddune that leads elsewhere", async () => {
  const cwd = temporaryRepository();
  const elsewhere = temporaryDirectory();
  symlinkSync(elsewhere, join(cwd, ".sanddune"));
  const branchStrategy = { type: "branch", branch: BRANCH } as const;
  await expect(createWorktree({ branchStrategy, cwd })).rejects.toMatchObject({
    name: "ConfigDirectoryError",
  });
  await expect(createSandbox({ branch: BRANCH, sandbox: bubblewrap(), cwd })).rejects.toMatchObject({
    name: "ConfigDirectoryError",
  });
  expect(readdirSync(elsewhere)).toEqual([]);
});

it("a sandbox that lasts refuses hooks of the next sandbox in a directory that was replaced by a link", async () => {
  const cwd = repositoryWithPackage();
  const elsewhere = temporaryDirectory();
  const inPackage = join(cwd, "packages/app");
  const sandbox = await openSandbox(inPackage);
  await playIn(sandbox, shell(`cd /sanddune/repo; rm -r packages/app; ln -s ${elsewhere} packages/app`));
  await ending(playIn(sandbox, shell("touch agent-was-here")));
  await sandbox.close();
  const hooks = { host: { onWorktreeReady: [{ command: "touch hook-was-here" }] } };
  const next = await ending(createSandbox({ branch: BRANCH, sandbox: bubblewrap(), cwd: inPackage, hooks }));
  expect(next).toMatchObject({ name: "InvalidOptionsError", option: "cwd" });
  expect(readdirSync(elsewhere)).toEqual([]);
});
