import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { runCli } from "../../cli/callCli.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { git } from "../../helpers/repository/repository.ts";
import { describeWith, isRoot, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, mustSucceed, play } from "../../security/support.ts";
import {
  counter,
  drafts,
  kept,
  logOf,
  onBranch,
  packageRepository,
  ranTimes,
  setupHook,
  setupScene,
} from "./scene.ts";

describeWith(["bubblewrap"], "a kept set-up", () => {
  it("is not used when a key file has changed", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    writeFileSync(join(cwd, "lock.json"), "2\n");
    git(cwd, "commit", "--quiet", "-am", "Update");
    await run();
    await run();
    expect(ranTimes(count)).toBe(2);
  });

  it("is not used when a hook of the host has committed another key file", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    const commit = "git -c user.name=a -c user.email=a@b commit --quiet -am Update";
    const host = { onWorktreeReady: [{ command: `echo 2 > lock.json; ${commit}` }] };
    const second = await run({ hooks: { ...setupHook(count), host } });
    expect(logOf(second)).not.toContain("Started from the kept set-up");
    expect(ranTimes(count)).toBe(2);
    expect(kept(cwd)).toHaveLength(1);
  });

  it("is not used when a key file has become executable", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    git(cwd, "update-index", "--chmod=+x", "lock.json");
    git(cwd, "commit", "--quiet", "-m", "Executable");
    await run();
    expect(ranTimes(count)).toBe(2);
  });

  it("is used when another file has changed, with the files of the new commit", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    writeFileSync(join(cwd, "README.md"), "# New\n");
    writeFileSync(join(cwd, "packages/a/more.js"), "more\n");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Others");
    await run({}, [
      mustSucceed(
        'test "$(cat README.md)" = "# New" && test -e packages/a/more.js && test -e packages/a/node_modules/x',
      ),
      mustSucceed('test -z "$(git status --porcelain)"'),
    ]);
    expect(ranTimes(count)).toBe(1);
  });

  it("is not used with another text, env var, directory, setting or provider settings", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    await run({ hooks: setupHook(count, { after: "true" }) });
    expect(ranTimes(count)).toBe(2);
    await run({ env: { NODE_ENV: { public: "production" } } });
    expect(ranTimes(count)).toBe(3);
    await run({ env: { NODE_ENV: { public: "production" } } });
    expect(ranTimes(count)).toBe(3);
    await run({ cwd: join(cwd, "packages/a"), hooks: setupHook(count, { key: ["index.js"] }) });
    expect(ranTimes(count)).toBe(4);
    await run({ sandbox: bubblewrap({ mounts: count.mounts, network: true }) });
    expect(ranTimes(count)).toBe(5);
  });

  it("has the same key whatever the value of a secret is, and no secret in its record", async () => {
    const { cwd, count, run } = setupScene();
    await run({ env: { TOKEN: "hunter2-first" } });
    await run({ env: { TOKEN: "hunter2-second" } });
    expect(ranTimes(count)).toBe(1);
    const record = readFileSync(join(kept(cwd)[0] ?? "", "setup.json"), "utf8");
    expect(record).toContain("TOKEN");
    expect(record).not.toContain("hunter2");
  });

  it("leaves no beginning of a secret that the text of a hook quotes in the run log", async () => {
    const { cwd, count, run } = setupScene();
    const secret = "hunter2-hunter2-hunter2-hunter2";
    const command = `: ${"x".repeat(60)} ${secret}`;
    const options = {
      env: { TOKEN: secret },
      hooks: { sandbox: { onSandboxReady: [{ command, cache: {} }] } },
    };
    const logs = [logOf(await run(options, [])), logOf(await run(options, []))];
    expect(logs[1]).toContain("Started from the kept set-up");
    expect(logs.join("")).not.toContain("hunter2");
    expect([kept(cwd).length, ranTimes(count)]).toEqual([1, 0]);
  });

  it("is made anew where the commit has a file in its place, and replaces the old one", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    const before = readFileSync(join(kept(cwd)[0] ?? "", "setup.json"), "utf8");
    git(cwd, "rm", "-rq", "packages/a");
    git(cwd, "commit", "--quiet", "-m", "No package");
    const second = await run();
    expect(logOf(second)).toContain(
      "The kept set-up is not used, because the commit has no directory packages",
    );
    expect(ranTimes(count)).toBe(2);
    expect(kept(cwd)).toHaveLength(1);
    expect(readFileSync(join(kept(cwd)[0] ?? "", "setup.json"), "utf8")).not.toBe(before);
    await run();
    expect(ranTimes(count)).toBe(2);
    expect(drafts(cwd)).toEqual([]);
  });

  it("is complete over a shared checkout of another commit, which has files in its place", async () => {
    const large = packageRepository(largeRepository());
    mkdirSync(join(large, "built"));
    writeFileSync(join(large, "built/out.js"), "committed\n");
    git(large, "add", ".");
    git(large, "commit", "--quiet", "-m", "With output");
    const { count, run } = setupScene(large);
    await run({ hooks: {} }, []);
    git(large, "rm", "-rq", "built");
    git(large, "commit", "--quiet", "-m", "Without output");
    const hooks = setupHook(count, { after: "mkdir built; echo hook > built/out.js" });
    const isComplete = [
      mustSucceed('test "$(cat built/out.js)" = hook && test -e node_modules/dep/index.js'),
    ];
    await run({ hooks }, isComplete);
    await run({ hooks }, isComplete);
    expect(ranTimes(count)).toBe(1);
  });

  it("is neither used nor made with cache: false", async () => {
    const { cwd, count, run } = setupScene();
    await run({ cache: false });
    expect(kept(cwd)).toEqual([]);
    await run();
    await run({ cache: false });
    expect(ranTimes(count)).toBe(3);
  });

  it("is ignored, and replaced, if another user could have written it", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    const [path = ""] = kept(cwd);
    writeFileSync(join(path, "layer/node_modules/dep/planted.js"), "");
    chmodSync(path, 0o777);
    const clean = [mustSucceed("test ! -e node_modules/dep/planted.js")];
    await run({}, clean);
    expect(ranTimes(count)).toBe(2);
    await run({}, clean);
    expect(ranTimes(count)).toBe(2);
  });

  it("is hidden from agents in the user's own checkout, and not used there", async () => {
    const { count, run } = setupScene();
    await run();
    const head = await run({ branchStrategy: { type: "head" } }, [mustSucceed("test ! -e .git/sanddune")]);
    expect(logOf(head)).toContain("with the `head` strategy");
    expect(ranTimes(count)).toBe(2);
  });

  it("stays for a few keys only", async () => {
    const { cwd, run, count } = setupScene();
    for (const after of ["true 1", "true 2", "true 3", "true 4", "true 5"])
      await run({ hooks: setupHook(count, { after }) });
    expect(kept(cwd).length).toBeLessThanOrEqual(4);
    expect(drafts(cwd)).toEqual([]);
  });

  it("is listed by clean with size and age, and removed; the next run makes it again", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    const listed = await runCli(["clean"], { cwd });
    expect(listed.stdout).toMatch(/kept set-up .*MB in the worktree, \d+ s old/);
    await runCli(["clean", "--yes"], { cwd });
    expect(kept(cwd)).toEqual([]);
    expect((await runCli(["clean", "--yes"], { cwd })).stdout).toContain("nothing to clean up");
    await run();
    expect(ranTimes(count)).toBe(2);
  });

  it.each([
    ["missing.json", "is not a file of the commit"],
    ["*.json", "without globs"],
    ["packages", "is a directory"],
    ["link.json", "is a symbolic link"],
  ])("cannot have the key file %s: an error names it, before anything is created", async (file, problem) => {
    const { cwd, count, run } = setupScene();
    symlinkSync("lock.json", join(cwd, "link.json"));
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Link");
    const error = await failureOf(run({ hooks: setupHook(count, { key: [file] }) }));
    expect(error).toMatchObject({ name: "HookCacheKeyError", item: file });
    expect(error.message).toContain(problem);
    expect(ranTimes(count)).toBe(0);
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
  });

  it.runIf(isRoot)("is ignored if it belongs to another user, and its key names the user", async () => {
    const { cwd, count, run } = setupScene();
    await run();
    const [path = ""] = kept(cwd);
    expect(JSON.parse(readFileSync(join(path, "setup.json"), "utf8"))).toMatchObject({ key: { user: 0 } });
    chownSync(path, 1000, 1000);
    await run();
    expect(ranTimes(count)).toBe(2);
  });
});

describeWith(["docker"], "a kept set-up of a container", () => {
  it("is not used with sudo if it was made without", async () => {
    const cwd = packageRepository();
    const count = counter();
    for (const [name, sudo] of Object.entries({ user: false, again: false, root: true })) {
      await play(cwd, [{ commit: name }], {
        ...onBranch(`agent/${name}`),
        sandbox: docker({ imageName: TEST_IMAGE, mounts: count.mounts }),
        hooks: { sandbox: { onSandboxReady: [{ command: `echo ran >> ${count.path}`, sudo, cache: {} }] } },
      });
    }
    expect(ranTimes(count)).toBe(2);
  });
});
