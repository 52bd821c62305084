import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { docker } from "../../../src/sandboxes/docker.ts";
import { afterTest } from "../../helpers/processes/sideBySide.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { bareTrap, prepareHost, useGitIn } from "../git/bareTrap.ts";
import { openSandbox } from "./lasting.ts";

describeWith(["bubblewrap"], "a fork of a sandbox in which an agent has committed a bare repository", () => {
  it("disarms it whenever a command of the fork checks it out again", async () => {
    const { cwd, fire, fired } = prepareHost();
    const sandbox = await openSandbox(cwd);
    const planted = await sandbox.exec(
      `set -e\n${bareTrap("pkg", fire)}\ngit add --force pkg\ngit commit --quiet -m Trap`,
    );
    expect(planted).toMatchObject({ exitCode: 0, commits: [{}] });
    const [fork] = await sandbox.fork(1);
    if (fork === undefined) throw new Error("there is no fork");
    afterTest(async () => void (await fork.close()));
    expect(git(cwd, "ls-tree", "--name-only", fork.branch)).toContain("pkg");
    const { warnings } = await fork.exec("git checkout --quiet -- pkg");
    expect(warnings.join()).toContain("git takes for a bare repository");
    useGitIn(join(fork.worktreePath, "pkg"));
    expect(fired()).toEqual([]);
  });
});

describeWith(["bubblewrap"], "a fork of a sandbox with repositories of the user in its worktree", () => {
  it("has their files without their history, and blames no agent", async () => {
    const cwd = temporaryRepository();
    const source = temporaryRepository();
    const addModule = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "module"];
    git(cwd, ...addModule);
    git(cwd, "commit", "--quiet", "-m", "Add a submodule");
    const sandbox = await openSandbox(cwd, {
      hooks: {
        host: {
          onWorktreeReady: [
            { command: `git clone --quiet ${source} clone` },
            { command: "git -c protocol.file.allow=always submodule --quiet update --init" },
          ],
        },
      },
    });
    expect((await sandbox.exec("ls clone/.git/HEAD module/.git")).exitCode).toBe(0);
    const [fork] = await sandbox.fork(1);
    if (fork === undefined) throw new Error("there is no fork");
    afterTest(async () => void (await fork.close()));
    expect(fork.warnings).toEqual([expect.stringMatching(/not their history.*: "clone", "module"\.$/)]);
    expect((await fork.exec("ls -A clone module")).stdout).toBe("clone:\nREADME.md\n\nmodule:\nREADME.md\n");
    expect((await sandbox.exec("ls clone/.git/HEAD module/.git")).exitCode).toBe(0);
  });
});

describeWith(["bubblewrap"], "a fork of a sandbox whose agent has taken the name of its branch", () => {
  it("is refused with the words of git, and can have another name", async () => {
    const cwd = temporaryRepository();
    const sandbox = await openSandbox(cwd);
    await sandbox.exec("git branch agent/work-1/below");
    await expect(sandbox.fork(1)).rejects.toThrow(
      /^The bubblewrap sandbox: git in the fork could not be put on the branch agent\/work-1\.[\s\S]*agent\/work-1\/below/,
    );
    expect(git(cwd, "branch", "--list", "agent/work-*")).toBe("");
    const [fork] = await sandbox.fork(1, { branches: ["other"] });
    afterTest(async () => void (await fork?.close()));
    expect(fork?.branch).toBe("other");
  });
});

describeWith(["docker"], "a fork of a sandbox whose agent has moved a repository of the user", () => {
  it("touches nothing through the link that the agent has put in its place", async () => {
    const cwd = temporaryRepository();
    const own = temporaryRepository();
    const sandbox = await openSandbox(cwd, {
      sandbox: docker({ imageName: TEST_IMAGE }),
      hooks: { host: { onWorktreeReady: [{ command: `git clone --quiet ${own} clone` }] } },
    });
    await sandbox.exec(`mv clone away; ln -s ${own} clone`);
    const [fork] = await sandbox.fork(1);
    if (fork === undefined) throw new Error("there is no fork");
    afterTest(async () => void (await fork.close()));
    expect(lstatSync(join(fork.worktreePath, "clone")).isSymbolicLink()).toBe(true);
    expect(git(own, "log", "--format=%s")).toBe("Initial commit");
    expect(existsSync(join(fork.worktreePath, "away/.git"))).toBe(false);
  });
});
