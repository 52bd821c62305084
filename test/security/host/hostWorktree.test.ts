import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createWorktree, scripted } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { atTerminal, type Outcome } from "../agent/atTerminal.ts";
import type { Act } from "../agent/hostSessions.ts";

const BRANCH = { type: "branch", branch: "agent/work" } as const;
const MERGE = { type: "merge-to-head" } as const;
const commit = (message: string) => `git commit --quiet --allow-empty -m ${message}`;
const onHost = (...lines: string[]): Act => ({ kind: "interactive", script: lines.join("\n") });
const inSandbox = (...lines: string[]): Act => ({ kind: "run", script: lines.join("\n") });
const inWarmSandbox = (...lines: string[]): Act => ({ kind: "exec", script: lines.join("\n") });

const warningsOf = (outcome: Outcome | undefined): string => (outcome?.warnings ?? []).join("\n");

describeWith(["tmux"], "an agent on the host that switches the worktree", () => {
  it.each([
    ["to another branch, with the branch strategy", BRANCH, "git switch --quiet -c elsewhere", "elsewhere"],
    ["to no branch at all, with merge-to-head", MERGE, "git switch --quiet --detach", undefined],
  ])(
    "%s is told so; the worktree is kept, and what was committed is not lost",
    async (_, branchStrategy, switchTo, branch) => {
      const cwd = temporaryRepository();
      const acts = [onHost(commit("Before"), switchTo, commit("After"))];
      const [result, closed] = await atTerminal({ cwd, branchStrategy, acts }).outcomes();
      const path = closed?.preservedWorktreePath ?? "";
      expect(result).toMatchObject({ exitCode: 0 });
      expect(warningsOf(result)).toMatch(/was switched to/);
      expect(git(path, "log", "--format=%s")).toBe("After\nBefore\nInitial commit");
      if (branch !== undefined) expect(warningsOf(result)).toContain(`switched to ${branch}`);
      // Before the switch it was the source branch that was committed to: that is brought home as ever.
      expect(result?.commits).toHaveLength(1);
      expect(git(cwd, "log", "--format=%s", String(result?.["branch"]))).toBe("Before\nInitial commit");
      git(cwd, "reflog", "expire", "--expire=now", "--all");
      git(cwd, "gc", "--quiet", "--prune=now");
      expect(git(path, "log", "-1", "--format=%s")).toBe("After");
    },
  );

  it("and back again leaves nothing behind that would keep it", async () => {
    const cwd = temporaryRepository();
    const acts = [onHost("git switch --quiet -c elsewhere"), onHost("git switch --quiet agent/work")];
    const [, , closed] = await atTerminal({ cwd, branchStrategy: BRANCH, acts }).outcomes();
    expect(closed).toMatchObject({ warnings: [] });
    expect(closed?.preservedWorktreePath).toBeUndefined();
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
  });

  it("to no branch at all: the next run on its branch says so, and does not advise to remove it unseen", async () => {
    const cwd = temporaryRepository();
    const acts = [onHost("git switch --quiet --detach", commit("Only-here"))];
    await atTerminal({ cwd, branchStrategy: BRANCH, acts }).outcomes();
    const error = await createWorktree({ cwd, branchStrategy: BRANCH }).then(
      () => new Error("nothing was wrong"),
      (reason: Error) => reason,
    );
    expect(error.name).toBe("BranchInUseError");
    expect(error.message).not.toMatch(/does not know as a worktree|rm -r/);
    expect(error.message).toMatch(/git -C .* switch/);
  });

  it("and whose directory is deleted then leaves its branch free", async () => {
    const cwd = temporaryRepository();
    const acts = [onHost("git switch --quiet -c elsewhere", commit("There"))];
    const [, closed] = await atTerminal({ cwd, branchStrategy: BRANCH, acts }).outcomes();
    rmSync(closed?.preservedWorktreePath as string, { recursive: true });
    const again = await createWorktree({ cwd, branchStrategy: BRANCH });
    expect(git(again.worktreePath, "branch", "--show-current")).toBe("agent/work");
    expect(await again.close()).toEqual({ commits: [], warnings: [] });
  });

  it("in the user's own checkout is where the result says it is", async () => {
    const cwd = temporaryRepository();
    const acts = [onHost("git switch --quiet -c elsewhere", commit("There"))];
    const [result] = await atTerminal({ cwd, acts }).outcomes();
    expect(result).toMatchObject({
      branch: "elsewhere",
      commits: [{ sha: git(cwd, "rev-parse", "elsewhere") }],
    });
  });
});

describeWith(["tmux", "bubblewrap"], "an agent on the host that switches the worktree before a run", () => {
  it("does not get what the next agent commits on the source branch mixed with the other branch's files", async () => {
    const cwd = temporaryRepository();
    const acts = [
      onHost("git switch --quiet -c elsewhere", "echo theirs > theirs.txt", "git add .", commit("Theirs")),
      inSandbox("echo mine > mine.txt", "git add -A", "git commit --quiet -m Mine"),
    ];
    await atTerminal({ cwd, branchStrategy: BRANCH, acts }).outcomes();
    expect(git(cwd, "ls-tree", "--name-only", "elsewhere")).toBe("README.md\ntheirs.txt");
    expect(git(cwd, "ls-tree", "--name-only", "agent/work")).not.toContain("theirs.txt");
  });
});

describeWith(["tmux"], "an agent on the host that removes the worktree", () => {
  const OUT = 'cd "$(git rev-parse --path-format=absolute --git-common-dir)"';

  it.each([
    ["as a directory", `worktree=$PWD; ${OUT}; rm -rf "$worktree"`],
    ["with git", `worktree=$PWD; ${OUT}; git worktree remove --force --force "$worktree"`],
  ])("%s loses nothing that it has committed, and the branch can be worked on again", async (_, remove) => {
    const cwd = temporaryRepository();
    const acts = [onHost(commit("Kept"), remove)];
    const [result, closed] = await atTerminal({ cwd, branchStrategy: BRANCH, acts }).outcomes();
    expect(git(cwd, "log", "-1", "--format=%s", "agent/work")).toBe("Kept");
    expect(result?.commits).toEqual([{ sha: git(cwd, "rev-parse", "agent/work") }]);
    expect(result?.["error"]).not.toBe("InternalError");
    // A path is told only if there is something.
    expect(closed?.preservedWorktreePath).toBeUndefined();
    await using again = await createWorktree({ cwd, branchStrategy: BRANCH });
    const agent = scripted([{ commit: "Again", files: { "again.txt": "" } }]);
    await again.run({ agent, sandbox: testIsolated(), prompt: "x" });
    expect(git(cwd, "log", "--format=%s", "agent/work")).toBe("Again\nKept\nInitial commit");
  });
});

describeWith(["tmux", "bubblewrap"], "a repository inside of the worktree", () => {
  const CLONE = 'git clone --quiet "$(git rev-parse --path-format=absolute --git-common-dir)" vendor';

  it("that a session on the host has made is not touched by later runs", async () => {
    const cwd = temporaryRepository();
    const acts = [onHost(CLONE), inSandbox("ls vendor"), inSandbox("git init --quiet evil")];
    const [first, second, third, closed] = await atTerminal({ cwd, branchStrategy: BRANCH, acts }).outcomes();
    const path = closed?.preservedWorktreePath ?? "";
    expect([first, second].map(warningsOf)).toEqual(["", ""]);
    expect(warningsOf(third)).toMatch(/made a git repository in "evil"/);
    expect(existsSync(join(path, "vendor/.git"))).toBe(true);
    expect(existsSync(join(path, "evil/.git"))).toBe(false);
  });

  it("that a session in the user's own checkout has made is the user's", async () => {
    const cwd = temporaryRepository();
    const [result] = await atTerminal({ cwd, acts: [onHost(CLONE)] }).outcomes();
    expect(warningsOf(result)).toBe("");
    expect(existsSync(join(cwd, "vendor/.git"))).toBe(true);
  });
});

describeWith(["tmux", "docker", "bubblewrap"], "a repository that something in a warm sandbox makes", () => {
  const background = (...lines: string[]) =>
    inWarmSandbox(
      `ls -A evil; (until [ -e go ]; do sleep 0.02; done; ${lines.join("; ")}; touch made) >/dev/null 2>&1 &`,
    );
  const LET_GO = "touch go; until [ -e made ]; do sleep 0.02; done; rm go made";

  it("while a session on the host is open is not the user's: the next session, or run in another sandbox, leaves it disarmed", async () => {
    const cwd = temporaryRepository();
    const acts = [
      ...[background("git init --quiet evil"), onHost(LET_GO), onHost("ls -A evil")],
      ...[background("git init --quiet worse"), onHost(LET_GO), inSandbox("ls -A worse")],
    ];
    const scene = { cwd, branchStrategy: BRANCH, warm: "docker", acts } as const;
    const results = await atTerminal(scene).outcomes();
    const path = results.at(-1)?.preservedWorktreePath ?? join(cwd, "nowhere");
    expect(results[3]?.["stdout"]).toMatch(/^\.git\.sanddune-\S+\n$/);
    for (const name of ["evil", "worse"]) {
      expect(results.map(warningsOf).join("\n")).toContain(`made a git repository in "${name}"`);
      expect(existsSync(join(path, name, ".git"))).toBe(false);
      expect(readdirSync(join(path, name))).toEqual([expect.stringMatching(/^\.git\.sanddune-/)]);
    }
  });
});
