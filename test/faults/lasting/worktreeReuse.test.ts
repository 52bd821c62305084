import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSandbox, HookFailedError } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  failureOf,
  locksOf,
  meetingPoint,
  play,
  SANDBOXES,
  STRATEGIES,
  shell,
  userRefs,
} from "../../security/support.ts";
import { branchStrategy, leaveDirty, subjects, task, work, worktreeIn } from "../run/worktrees.ts";

/** An own object: the promise is that the caller gets back the very same one. */
class Changed {
  readonly why = "the user changed their mind";
}

describe.each<[string, (cwd: string) => Promise<{ readonly warnings: readonly string[] }>]>([
  [
    "createWorktree()",
    async (cwd) => {
      await using worktree = await worktreeIn(cwd);
      return worktree;
    },
  ],
  [
    "createSandbox()",
    async (cwd) => {
      await using sandbox = await createSandbox({ cwd, branch: "agent/work", sandbox: testIsolated() });
      return sandbox;
    },
  ],
  ["run()", (cwd) => play(cwd, [], { branchStrategy, sandbox: testIsolated() })],
])("%s on a branch whose worktree was kept", (_, open) => {
  it("takes it over and says so, if there is uncommitted work in it", async () => {
    const cwd = temporaryRepository();
    const path = await leaveDirty(cwd);
    expect((await open(cwd)).warnings).toEqual([
      expect.stringMatching(`Using the worktree of an earlier run.*${path}`),
    ]);
    expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
    expect(locksOf(cwd)).toEqual([]);
  });
});

it("createWorktree() on a branch whose worktree was kept takes it over without a word, if it is clean", async () => {
  const cwd = temporaryRepository();
  const path = await leaveDirty(cwd);
  rmSync(join(path, "open.txt"));
  await using worktree = await worktreeIn(cwd);
  expect(worktree.worktreePath).toBe(path);
  expect(worktree.warnings).toEqual([]);
});

describe("createWorktree() that does not come to an end", () => {
  const hooks = (line: string) => ({ host: { onWorktreeReady: [{ command: line }] } });
  const hanging = () => {
    const here = join(temporaryDirectory(), "here");
    return { hooks: hooks(`touch ${here}; sleep 60`), arrived: () => waitFor(() => existsSync(here)) };
  };
  const WAYS: [string, (cwd: string) => Promise<void>][] = [
    [
      "because a hook fails",
      (cwd) => expect(worktreeIn(cwd, { hooks: hooks("exit 3") })).rejects.toBeInstanceOf(HookFailedError),
    ],
    [
      "because it is aborted",
      async (cwd) => {
        const controller = new AbortController();
        const reason = new Changed();
        const { hooks: hang, arrived } = hanging();
        const making = expect(worktreeIn(cwd, { hooks: hang, signal: controller.signal })).rejects.toBe(
          reason,
        );
        await arrived();
        controller.abort(reason);
        await making;
      },
    ],
  ];

  it.each(WAYS)("%s leaves nothing behind, but uncommitted work that it has only found", async (_, fail) => {
    const cwd = temporaryRepository();
    const before = userRefs(cwd);
    await fail(cwd);
    expect(userRefs(cwd)).toBe(before);
    expect(leftovers(cwd)).toEqual([]);

    const path = await leaveDirty(cwd);
    await fail(cwd);
    expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
    expect(locksOf(cwd)).toEqual([]);
  });

  it("because it was aborted before it began creates nothing", async () => {
    const cwd = temporaryRepository();
    const reason = new Changed();
    await expect(worktreeIn(cwd, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
    expect(existsSync(join(cwd, ".git/sanddune"))).toBe(false);
  });
});

for (const name of ["bubblewrap", "isolated"] as const) {
  describeWith(name === "isolated" ? [] : [name], `a run in a worktree, in ${name}, that is aborted`, () => {
    it("rejects with the caller's reason, and the worktree continues with what it left", async () => {
      const cwd = temporaryRepository();
      const worktree = await worktreeIn(cwd);
      const controller = new AbortController();
      const reason = new Changed();
      const { sandboxes, wait, meet } = meetingPoint();
      const steps = [{ commit: "One" }, shell("echo half > open.txt"), wait, { commit: "Never" }];
      const running = expect(work(worktree, steps, sandboxes[name](), controller.signal)).rejects.toBe(
        reason,
      );
      await meet(async () => {
        controller.abort(reason);
        await running;
      });
      expect(subjects(cwd)).toBe("One");
      await work(worktree, [shell("cat open.txt > seen.txt"), { commit: "Two" }], sandboxes[name]());
      expect(git(cwd, "show", "agent/work:seen.txt")).toBe("half");
      expect(await worktree.close()).toEqual({ commits: expect.any(Array), warnings: [] });
      expect(leftovers(cwd)).toEqual([]);
    });
  });
}

it("a run in a worktree that is aborted while it waits for its turn ends at once, and the one before it is not disturbed", async () => {
  const cwd = temporaryRepository();
  const worktree = await worktreeIn(cwd);
  const controller = new AbortController();
  const reason = new Changed();
  const { wait, meet } = meetingPoint();
  const first = work(worktree, [wait, { commit: "First" }]);
  await meet(async () => {
    const second = expect(work(worktree, [{ commit: "Never" }], testIsolated(), controller.signal));
    const rejected = second.rejects.toBe(reason);
    controller.abort(reason);
    await rejected;
  });
  expect((await first).commits).toHaveLength(1);
  await worktree.close();
  expect(subjects(cwd)).toBe("First");
});

it("what arrives on the target branch while an isolated sandbox is made is not taken for the agent's", async () => {
  const cwd = temporaryRepository();
  const worktree = await worktreeIn(cwd, { branchStrategy: STRATEGIES["merge-to-head"] });
  const provider = testIsolated();
  const create: typeof provider.create = (options) => {
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "By the user");
    return provider.create(options);
  };
  const { warnings, commits } = await work(worktree, [{ commit: "One" }], { ...provider, create });
  expect(warnings).toEqual([]);
  expect(commits).toHaveLength(1);
  await worktree.close();
  expect(leftovers(cwd)).toEqual([]);
});

describeWith(["bubblewrap"], "in bind-mount sandboxes", () => {
  it("2 worktrees with merge-to-head in one repository land two runs each, all at once, and leave nothing behind", async () => {
    const cwd = temporaryRepository();
    const numbers = [0, 1];
    const closed = await Promise.all(
      numbers.map(async (number) => {
        const worktree = await worktreeIn(cwd, { branchStrategy: STRATEGIES["merge-to-head"] });
        for (const [name, make] of Object.entries(SANDBOXES)) {
          const path = `${number}-${name}.txt`;
          const { commits, warnings } = await work(
            worktree,
            [{ commit: path, files: { [path]: "x\n" } }],
            make(),
          );
          expect(commits.map(({ sha }) => git(cwd, "log", "-1", "--format=%s", sha))).toEqual([path]);
          expect(warnings).toEqual([]);
        }
        return worktree.close();
      }),
    );
    expect(closed).toEqual(numbers.map(() => ({ commits: expect.any(Array), warnings: [] })));
    expect(git(cwd, "log", "--no-merges", "--format=%s", "main").split("\n")).toHaveLength(5);
    expect(git(cwd, "ls-tree", "--name-only", "main").split("\n")).toHaveLength(5);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
    expect(leftovers(cwd)).toEqual([]);
  });

  it("a hook that fails in a run leaves the worktree as it was, for the next one", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    const hooks = { sandbox: { onSandboxReady: [{ command: "echo made > made.txt; exit 3" }] } };
    const error = await failureOf(
      worktree.run({ ...task({ commit: "Never" }), sandbox: bubblewrap(), hooks }),
    );
    expect(error).toBeInstanceOf(HookFailedError);
    expect(
      (await work(worktree, [shell("cat made.txt"), { commit: "One" }], bubblewrap())).commits,
    ).toHaveLength(1);
    expect(git(cwd, "show", "agent/work:made.txt")).toBe("made");
    await worktree.close();
    expect(leftovers(cwd)).toEqual([]);
  });
});
