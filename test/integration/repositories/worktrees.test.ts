import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createWorktree, type RunOptions, run, type ScriptedStep, scripted } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

const play = (cwd: string, steps: ScriptedStep[], overrides: Partial<RunOptions> = {}) =>
  run({ agent: scripted(steps), sandbox: testIsolated(), cwd, prompt: "x", ...overrides } as RunOptions);

const onBranch = { branchStrategy: { type: "branch", branch: "agent/x" } } as const;

const worktreesOf = (cwd: string): string[] => {
  const path = join(cwd, ".sanddune/worktrees");
  return existsSync(path) ? readdirSync(path).filter((name) => name !== ".gitignore") : [];
};

describe("a worktree", () => {
  it("with uncommitted work is kept, named, and taken over by the next run on the branch", async () => {
    const cwd = temporaryRepository();
    const first = await play(cwd, [{ shell: "echo half > half.txt" }], onBranch);
    expect(readFileSync(join(first.preservedWorktreePath as string, "half.txt"), "utf8")).toBe("half\n");

    const second = await play(cwd, [{ shell: "cat half.txt" }, { commit: "Finish it" }], onBranch);
    expect(second.warnings.join()).toContain("worktree of an earlier run");
    expect(second.preservedWorktreePath).toBeUndefined();
    expect(git(cwd, "show", "agent/x:half.txt")).toBe("half");
    expect(leftovers(cwd)).toEqual([]);
  });

  it("is not touched by a run in which nothing happens, and the branch is there", async () => {
    const cwd = temporaryRepository();
    const result = await play(cwd, [{ text: "nothing to do" }], onBranch);
    expect(result.commits).toEqual([]);
    expect(git(cwd, "rev-parse", "agent/x")).toBe(git(cwd, "rev-parse", "main"));
    expect(leftovers(cwd)).toEqual([]);
  });
});

describe("copyToWorktree", () => {
  it("leaves the agent's unfinished work alone when a run is tried again, and says so", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, ".git/info/exclude"), "settings.json\n");
    writeFileSync(join(cwd, "settings.json"), "host\n");
    const options = { ...onBranch, copyToWorktree: ["settings.json"] };
    const first = await createWorktree({ cwd, ...options });
    // As an agent in a bind-mount sandbox leaves it when it fails.
    writeFileSync(join(first.worktreePath, "settings.json"), "agent\n");
    writeFileSync(join(first.worktreePath, "half.txt"), "half\n");
    await first.close();

    writeFileSync(join(cwd, "settings.json"), "host, later\n");
    const second = await play(
      cwd,
      [{ shell: "cat settings.json half.txt > seen.txt" }, { commit: "Finish" }],
      options,
    );
    expect(second.warnings).toContainEqual(
      expect.stringMatching(/copyToWorktree "settings\.json".*was kept/),
    );
    expect(git(cwd, "show", "agent/x:seen.txt")).toBe("agent\nhalf");
  });

  it("copies what git ignores, relative to cwd, in a sub-directory too", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "packages/a/node_modules/dep"), { recursive: true });
    writeFileSync(join(cwd, "packages/a/node_modules/dep/index.js"), "dep\n");
    writeFileSync(join(cwd, "packages/a/package.json"), "{}");
    writeFileSync(join(cwd, ".gitignore"), "node_modules\n");
    git(cwd, "add", ".");
    git(cwd, "commit", "-qm", "Add a package");
    const result = await play(
      join(cwd, "packages/a"),
      [{ shell: "pwd; cat node_modules/dep/index.js > seen.txt" }, { commit: "Look" }],
      {
        ...onBranch,
        copyToWorktree: ["node_modules"],
      },
    );
    expect(git(cwd, "show", "--name-only", "--format=", "agent/x")).toBe("packages/a/seen.txt");
    expect(git(cwd, "show", "agent/x:packages/a/seen.txt")).toBe("dep");
    expect(result.preservedWorktreePath).toBeUndefined();
  });

  it("copying that takes too long is stopped, with the setting's name, and leaves nothing", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "many"));
    for (let index = 0; index < 1000; index++) writeFileSync(join(cwd, "many", `${index}`), "x");
    const error = await play(cwd, [], {
      ...onBranch,
      copyToWorktree: ["many"],
      timeouts: { copyToWorktreeMs: 1 },
    }).catch((reason) => reason);
    expect(error).toMatchObject({
      name: "StepTimeoutError",
      timeoutMs: 1,
      setting: "timeouts.copyToWorktreeMs",
    });
    expect(
      existsSync(join(cwd, ".git/sanddune/locks"))
        ? leftovers(cwd).filter((item) => item.endsWith(".lock"))
        : [],
    ).toEqual([]);
  });
});

describe("merge-to-head", () => {
  it("makes a merge commit when the host has moved on, and lists only the run's own commits", async () => {
    const cwd = temporaryRepository();
    const go = join(temporaryDirectory(), "go");
    const running = play(cwd, [
      { commit: "By the agent", files: { "agent.txt": "1\n" } },
      { shell: `until [ -e ${go} ]; do sleep 0.02; done` },
    ]);
    await waitFor(() => worktreesOf(cwd).length > 0);
    writeFileSync(join(cwd, "host.txt"), "1\n");
    git(cwd, "add", "host.txt");
    git(cwd, "commit", "-qm", "By the user");
    writeFileSync(go, "");
    const result = await running;
    expect(git(cwd, "show", "--no-patch", "--format=%s", "HEAD^1")).toBe("By the user");
    expect(git(cwd, "log", "-1", "--format=%s", "HEAD^2")).toBe("By the agent");
    expect(result.commits).toEqual([{ sha: git(cwd, "rev-parse", "HEAD^2") }]);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(readFileSync(join(cwd, "agent.txt"), "utf8")).toBe("1\n");
  });
});
