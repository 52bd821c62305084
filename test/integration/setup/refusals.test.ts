import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSandbox, createWorktree, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { git } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, mustSucceed, play, shell } from "../../security/support.ts";
import { counter, drafts, kept, logOf, onBranch, packageRepository, ranTimes, setupHook } from "./scene.ts";

const FETCH_SUBMODULES = "git -c protocol.file.allow=always submodule --quiet update --init";

let number = 0;
const scene = (cwd = packageRepository()) => {
  const count = counter();
  const sandbox = bubblewrap({ mounts: count.mounts });
  return {
    cwd,
    count,
    sandbox,
    run: (options: object = {}, steps = [mustSucceed("test -e node_modules/dep/index.js")]) =>
      // Empty commits of the same second would be the same one.
      play(cwd, [{ commit: `x ${++number}` }, ...steps], {
        ...onBranch(`agent/${++number}`),
        sandbox,
        hooks: setupHook(count),
        ...options,
      }),
  };
};

describeWith(["bubblewrap"], "the result of hooks is not kept", () => {
  const REFUSALS: readonly [string, string, string][] = [
    ["changed a tracked file", "echo more >> README.md", "a hook changed README.md, which git tracks"],
    ["deleted a tracked file", "rm README.md", "a hook changed README.md, which git tracks"],
    ["staged a file", "echo new > new.txt; git add new.txt", "in the git directory of the sandbox"],
    ["took a file out of the index", "git rm -q --cached README.md", "a hook staged README.md"],
    [
      "committed",
      "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
      "in the git directory",
    ],
    [
      "changed git's configuration",
      "git config core.pager cat",
      "a hook changed config in the git directory",
    ],
    ["installed a git hook", "mkdir -p /sanddune/git/hooks; touch /sanddune/git/hooks/pre-commit", "hooks"],
    ["made a ref", "git update-ref refs/heads/other HEAD", "in the git directory of the sandbox"],
    ["made a named pipe", "mkfifo node_modules/pipe", "named pipe"],
    ["made a repository in it", "git init -q node_modules/dep", "is a git repository of its own"],
  ];
  for (const [size, makeRepository] of [
    ["in a worktree", () => packageRepository()],
    ["in an overlay", () => packageRepository(largeRepository())],
  ] as const) {
    it.each(REFUSALS)(`if a hook %s (${size})`, async (_, after, reason) => {
      const { cwd, count, run } = scene(makeRepository());
      const options = { hooks: setupHook(count, { after }) };
      const result = await run(options);
      expect(result.warnings).toEqual([
        expect.stringMatching(/^The result of the hooks is not kept: .*remove `cache` from the hook/s),
      ]);
      expect(result.warnings[0]).toContain(reason);
      expect(logOf(result)).toContain(reason);
      expect([kept(cwd), drafts(cwd)]).toEqual([[], []]);
    });
  }

  it("if the run starts from commits that an agent made and nobody merged", async () => {
    const { cwd, count, run } = scene();
    const first = await run({ ...onBranch("agent/own"), cache: false }, [
      shell("echo evil > postinstall.js; git add .; git commit -qm Evil"),
    ]);
    expect(first.commits.length).toBeGreaterThan(0);
    for (const branchStrategy of [
      { type: "branch", branch: "agent/own" },
      { type: "branch", branch: "agent/new", from: "agent/own" },
    ] as const) {
      const next = await run({ branchStrategy });
      expect(logOf(next)).toContain("an agent may have written what the hooks run");
      expect(next.warnings.join()).not.toContain("not kept");
    }
    expect(kept(cwd)).toEqual([]);
    expect(ranTimes(count)).toBe(3);
    git(cwd, "merge", "--quiet", "agent/own");
    await run();
    expect(kept(cwd)).toHaveLength(1);
  });

  it("but a branch of an agent can start from one that was kept before, and changes nothing in it", async () => {
    const { cwd, count, run } = scene();
    await run();
    await run({ ...onBranch("agent/own") });
    await run({ branchStrategy: { type: "branch", branch: "agent/new", from: "agent/own" } });
    expect(ranTimes(count)).toBe(1);
    expect(kept(cwd)).toHaveLength(1);
  });

  it("if the worktree is one of an earlier run", async () => {
    const { cwd, run } = scene();
    const first = await run({ cache: false }, [shell("echo open > open.txt")]);
    expect(existsSync(first.preservedWorktreePath ?? "")).toBe(true);
    const again = await run({ ...onBranch(first.branch) });
    expect(logOf(again)).toContain("the worktree is one of an earlier run");
    expect(kept(cwd)).toEqual([]);
  });

  it("if a hook of the host changed a tracked file before, and not read either", async () => {
    const { cwd, count, run } = scene();
    await run();
    const host = { onWorktreeReady: [{ command: "echo 2 > lock.json" }] };
    const result = await run({ hooks: { ...setupHook(count), host } }, []);
    expect(logOf(result)).toContain("lock.json differs from the commit before the hooks run");
    expect(ranTimes(count)).toBe(2);
    expect(kept(cwd)).toHaveLength(1);
  });

  it.each([
    ["a hook of the host filled", { onWorktreeReady: [{ command: FETCH_SUBMODULES }] }],
    ["is empty", {}],
  ])("if a hook writes into a submodule that %s", async (_, host) => {
    const cwd = packageRepository();
    git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", packageRepository(), "sub");
    git(cwd, "commit", "--quiet", "-m", "A submodule");
    const { count, run } = scene(cwd);
    const { sandbox } = setupHook(count, { after: "mkdir -p sub/node_modules; touch sub/node_modules/x" });
    const first = await run({ hooks: { host, sandbox } }, [mustSucceed("test -e sub/node_modules/x")]);
    expect(logOf(first)).toContain("a hook changed files in the submodule sub");
    expect([kept(cwd), drafts(cwd)]).toEqual([[], []]);
    const others = { host, sandbox: setupHook(count).sandbox };
    await run({ hooks: others });
    expect(kept(cwd)).toHaveLength(1);
  });

  it("with a provider that has no snapshots: the hooks run each time, and a warning says so", async () => {
    const cwd = packageRepository();
    const hooks = { sandbox: { onSandboxReady: [{ command: "echo x > made.txt", cache: {} }] } };
    const result = await play(cwd, [mustSucceed("test -e made.txt"), { commit: "x" }], {
      ...onBranch("agent/isolated"),
      sandbox: testIsolated(),
      hooks,
    });
    expect(result.warnings.filter((warning) => /cannot keep the result of hooks/.test(warning))).toHaveLength(
      1,
    );
  });
});

describeWith(["bubblewrap"], "a kept set-up", () => {
  it("has no file that the user copied or that a hook of the host wrote", async () => {
    const { cwd, count, run } = scene();
    writeFileSync(join(cwd, ".env"), "SECRET=hunter2\n");
    const hooks = {
      ...setupHook(count),
      host: {
        onWorktreeReady: [{ command: "mkdir -p made && echo host > made/host.txt" }],
        onSandboxReady: [{ command: "echo later > later.txt" }],
      },
    };
    const options = { hooks, copyToWorktree: [".env"] };
    const sees = [
      shell(
        "grep -q hunter2 .env && test -e made/host.txt && test -e node_modules/dep/index.js && test -e later.txt",
      ),
    ];
    await run(options, sees);
    const [path = ""] = kept(cwd);
    for (const name of [".env", "made", "later.txt"])
      expect(existsSync(join(path, "layer", name))).toBe(false);
    expect(existsSync(join(path, "layer/node_modules/dep/index.js"))).toBe(true);
    await run(options, sees);
    expect(ranTimes(count)).toBe(1);
  });

  it("is not made if a hook writes into a directory that the user copied", async () => {
    const { cwd, count, run } = scene();
    mkdirSync(join(cwd, "node_modules"));
    writeFileSync(join(cwd, "node_modules/own"), "");
    const result = await run({ copyToWorktree: ["node_modules"] });
    expect(logOf(result)).toContain("which was there before");
    expect(kept(cwd)).toEqual([]);
    await run();
    const copied = await run({ copyToWorktree: ["node_modules"] });
    expect(logOf(copied)).toContain("the worktree has node_modules/ already");
    expect(ranTimes(count)).toBe(3);
  });

  it("is not changed by an agent, whatever it writes", async () => {
    const { count, run } = scene();
    const spoil = shell(
      "rm -rf node_modules packages/a/node_modules; mkdir node_modules; echo evil > node_modules/evil",
      'echo evil > "$HOME/tool"; echo evil > "$HOME/.bashrc"; echo evil > /tmp/made',
    );
    await run({}, [spoil]);
    const clean = mustSucceed(
      'test "$(cat node_modules/dep/index.js)" = dep && test ! -e node_modules/evil && test -d node_modules/empty',
      'test "$(cat "$HOME/tool")" = tool && test ! -e "$HOME/.bashrc" && test "$(cat /tmp/made)" = made',
    );
    await run({}, [clean, spoil]);
    await run({}, [clean]);
    expect(ranTimes(count)).toBe(1);
  });

  it("has no set-uid program, and another user cannot read it", async () => {
    const { cwd, count, run } = scene();
    const after =
      'cp /bin/true node_modules/su; cp /bin/true "$HOME/su"; chmod 4755 node_modules/su "$HOME/su"';
    await run({ hooks: setupHook(count, { after }) });
    const [path = ""] = kept(cwd);
    const find = (...args: string[]) =>
      import("node:child_process").then(({ execFileSync }) =>
        execFileSync("find", [path, ...args], { encoding: "utf8" }),
      );
    expect(await find("-name", "su")).toContain("layer/node_modules/su");
    expect(await find("-perm", "-4000")).toBe("");
    expect(await find("-maxdepth", "0", "-perm", "/077")).toBe("");
  });

  it("serves createSandbox(), worktree.createSandbox() and worktree.run()", async () => {
    const { cwd, count, sandbox } = scene();
    const hooks = setupHook(count);
    const options = { sandbox, hooks } as const;
    const check =
      "test -e node_modules/dep/index.js && test -e packages/a/node_modules/x && test -e $HOME/tool";
    for (const round of [1, 2]) {
      await using made = await createSandbox({ ...options, cwd, branch: `agent/sandbox-${round}` });
      expect((await made.exec(check)).exitCode).toBe(0);
      await made.close();
    }
    expect(ranTimes(count)).toBe(1);
    await using worktree = await createWorktree({
      cwd,
      branchStrategy: { type: "branch", branch: "agent/worktree" },
    });
    await using inWorktree = await worktree.createSandbox(options);
    expect((await inWorktree.exec(check)).exitCode).toBe(0);
    expect(ranTimes(count)).toBe(1);
    await inWorktree.close();
    // The second sandbox of a worktree: an agent may have worked there.
    await worktree.run({ ...options, agent: scripted([mustSucceed(check), { commit: "x" }]), prompt: "x" });
    expect(ranTimes(count)).toBe(2);
  });

  it("is filled once by eight runs at the same time, and nothing is torn", async () => {
    const { cwd, count, run } = scene();
    const results = await Promise.all(Array.from({ length: 8 }, () => run()));
    expect(results.map(({ commits }) => commits.length)).toEqual(Array(8).fill(1));
    expect(kept(cwd)).toHaveLength(1);
    expect(drafts(cwd)).toEqual([]);
    const before = ranTimes(count);
    await Promise.all(Array.from({ length: 4 }, () => run()));
    expect(ranTimes(count)).toBe(before);
  });

  it("is not kept if a hook fails, and the error is the hook's", async () => {
    const { cwd, count, run } = scene();
    const error = await failureOf(run({ hooks: setupHook(count, { after: "exit 3" }) }));
    expect(error).toMatchObject({ name: "HookFailedError", exitCode: 3 });
    expect([kept(cwd), drafts(cwd)]).toEqual([[], []]);
  });

  it("is complete in work that is kept, and an agent's changes with it", async () => {
    const { count, run } = scene(packageRepository(largeRepository()));
    const open = [
      shell("echo open > open.txt; rm node_modules/dep/1.js; echo changed > node_modules/dep/2.js"),
    ];
    await run();
    const second = await run({}, open);
    expect(second.checkout).toBe("overlay");
    const path = second.preservedWorktreePath ?? "";
    expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
    expect(readFileSync(join(path, "node_modules/dep/2.js"), "utf8")).toBe("changed\n");
    expect(existsSync(join(path, "node_modules/dep/1.js"))).toBe(false);
    expect(readFileSync(join(path, "packages/a/node_modules/x"), "utf8")).toBe("x\n");
    expect(git(path, "status", "--porcelain")).toBe("?? open.txt");
    expect(ranTimes(count)).toBe(1);
  });

  it("lies under the files of a small repository when it is large", async () => {
    const { count, run } = scene();
    const hooks = setupHook(count, { files: 300 });
    expect((await run({ hooks })).checkout).toBe("worktree");
    const second = await run({ hooks }, [
      mustSucceed('test -z "$(git status --porcelain)" && test "$(ls node_modules/dep | wc -l)" = 301'),
    ]);
    expect(second).toMatchObject({ checkout: "overlay", commits: [{}] });
    expect(ranTimes(count)).toBe(1);
  });
});
