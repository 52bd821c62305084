import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { readHostState } from "../../../src/git/hostState.ts";
import { openRepository } from "../../../src/git/repository.ts";
import {
  prepareSandboxGitDirectory,
  type SandboxGitSetup,
} from "../../../src/git/sandboxDirectory/sandboxGitDirectory.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { commitFiles } from "../commitFiles.ts";

/** Prepares a git directory for a checkout, and lets git work with it where the host has it. */
const prepare = async (cwd: string, changes: Partial<SandboxGitSetup["checkout"]> = {}) => {
  const repository = await runAtBoundary(openRepository(cwd));
  const host = await runAtBoundary(readHostState(repository));
  const filesDirectory = temporaryDirectory();
  const mounts = await runAtBoundary(
    prepareSandboxGitDirectory({
      filesDirectory,
      repository,
      checkout: { path: cwd, gitDirectory: repository.gitDirectory, ...host.head, ...changes },
      host,
      knownCommits: host.refs.map(({ sha }) => sha),
      nestedRepositories: new Map(),
    }),
  );
  const directory = join(filesDirectory, "git");
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  return {
    directory,
    read,
    at: (sandboxPath: string) => mounts.filter((mount) => mount.sandboxPath === sandboxPath),
    mounts,
    /** Git, with the object stores at their places on the host. */
    inSandbox: (...args: string[]) => {
      const stores = mounts.filter(({ sandboxPath }) => /^\/sanddune\/objects\/\d+$/.test(sandboxPath));
      writeFileSync(
        join(directory, "objects/info/alternates"),
        stores.map(({ hostPath }) => `${hostPath}\n`).join(""),
      );
      return git(cwd, `--git-dir=${directory}`, `--work-tree=${cwd}`, ...args);
    },
  };
};

const file = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

describe("the git directory of a sandbox", () => {
  it("shows the branch, every ref and no change", async () => {
    const cwd = temporaryRepository();
    commitFiles(cwd, { "a.txt": "", "ä\n": "" });
    git(cwd, "tag", "v1");
    const { inSandbox } = await prepare(cwd);
    expect(inSandbox("status", "--porcelain", "--branch")).toBe("## main");
    expect(inSandbox("for-each-ref", "--format=%(refname)").split("\n")).toEqual([
      ...["refs/heads/main", "refs/tags/v1"],
    ]);
    expect(inSandbox("log", "--format=%s")).toContain("Initial commit");
  });

  it("shows what is uncommitted and staged on the host", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { "staged.txt": "", "README.md": "changed\n" });
    git(cwd, "add", "staged.txt");
    const { inSandbox } = await prepare(cwd);
    expect(inSandbox("status", "--porcelain")).toBe(" M README.md\nA  staged.txt");
  });

  it("has a detached HEAD where the host has one", async () => {
    const cwd = temporaryRepository();
    git(cwd, "switch", "--quiet", "--detach");
    const { read } = await prepare(cwd);
    expect(read("HEAD")).toBe(`${git(cwd, "rev-parse", "HEAD")}\n`);
  });

  it("has none of the host's hooks, programs and credentials", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".git/hooks"), { recursive: true });
    writeFileSync(join(cwd, ".git/hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 });
    git(cwd, "config", "filter.x.clean", "evil");
    git(cwd, "remote", "add", "origin", "https://user:secret@example.com/x.git");
    const { directory, read } = await prepare(cwd);
    expect(existsSync(join(directory, "hooks"))).toBe(false);
    expect(read("config")).not.toMatch(/evil|secret/);
    expect(read("config")).toContain("https://example.com/x.git");
  });

  it("ignores what the user ignores, and the env file", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, ".git/info/exclude"), "private\n");
    writeFiles(cwd, { private: "", ".sanddune/.env": "" });
    const { inSandbox } = await prepare(cwd);
    expect(inSandbox("status", "--porcelain", "--untracked-files=all")).toBe("");
  });

  it("compares files as the host does: line ends, modes, sparse checkouts", async () => {
    const cwd = temporaryRepository();
    git(cwd, "config", "core.autocrlf", "true");
    commitFiles(cwd, { "a.txt": "one\n", "sub/b.txt": "" });
    git(cwd, "sparse-checkout", "set", "--no-cone", "/*", "!/sub/");
    git(cwd, "checkout", "--quiet", "HEAD", "a.txt");
    const { inSandbox } = await prepare(cwd);
    expect(existsSync(join(cwd, "sub"))).toBe(false);
    expect(inSandbox("sparse-checkout", "list")).toBe("/*\n!/sub/");
    expect(inSandbox("status", "--porcelain")).toBe("");
  });

  it("sees the objects of other repositories that the host's borrows from, and not their paths", async () => {
    const origin = temporaryRepository();
    const cwd = join(temporaryDirectory(), "borrower");
    git(origin, "clone", "--quiet", "--shared", origin, cwd);
    const { inSandbox, at, read } = await prepare(cwd);
    expect(read("objects/info/alternates")).toBe("/sanddune/objects/0\n/sanddune/objects/1\n");
    expect(at("/sanddune/objects/1")).toEqual([
      { hostPath: join(origin, ".git/objects"), sandboxPath: "/sanddune/objects/1", readOnly: true },
    ]);
    const hidden = at("/sanddune/objects/0/info/alternates").map(({ hostPath }) => file(hostPath));
    expect(hidden).toEqual([""]);
    expect(inSandbox("log", "--format=%s")).toBe("Initial commit");
  });

  it("of a shallow clone is as shallow", async () => {
    const origin = temporaryRepository();
    commitFiles(origin, { "a.txt": "" });
    const cwd = join(temporaryDirectory(), "shallow");
    git(origin, "clone", "--quiet", "--depth=1", `file://${origin}`, cwd);
    expect((await prepare(cwd)).inSandbox("rev-list", "--count", "HEAD")).toBe("1");
  });
});

describe("a sandbox sees", () => {
  it("the checkout, and never the git directory of the host", async () => {
    const cwd = temporaryRepository();
    const { mounts, at, directory } = await prepare(cwd);
    expect(at("/sanddune/repo")).toEqual([{ hostPath: cwd, sandboxPath: "/sanddune/repo", readOnly: false }]);
    expect(at("/sanddune/repo/.git")).toEqual([
      { hostPath: directory, sandboxPath: "/sanddune/repo/.git", readOnly: false },
    ]);
    const exposed = mounts.filter(({ hostPath }) => hostPath.startsWith(join(cwd, ".git")));
    expect(exposed).toEqual([
      { hostPath: join(cwd, ".git/objects"), sandboxPath: "/sanddune/objects/0", readOnly: true },
    ]);
  });

  it("a file in the place of a worktree's .git that leads to its own git directory", async () => {
    const cwd = temporaryRepository();
    const path = join(temporaryDirectory(), "linked");
    git(cwd, "worktree", "add", "--quiet", path);
    const { at } = await prepare(path);
    const [mount] = at("/sanddune/repo/.git");
    expect(file(mount?.hostPath ?? "")).toBe("gitdir: /sanddune/git\n");
    expect(mount?.readOnly).toBe(true);
  });

  it("the config directory read-only, without secrets and other runs", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, {
      ".sanddune/.env": "SECRET=1\n",
      ".sanddune/runs/x": "",
      ".sanddune/config.json": "{}",
    });
    const { at } = await prepare(cwd);
    const hidden = at("/sanddune/repo/.sanddune/.env")[0]?.hostPath ?? "";
    expect([at("/sanddune/repo/.sanddune")[0]?.readOnly, file(hidden)]).toEqual([true, ""]);
    expect(existsSync(hidden)).toBe(true);
    expect(at("/sanddune/repo/.sanddune/runs")[0]?.hostPath).not.toContain(cwd);
    expect(at("/sanddune/repo/.sanddune/logs")).toEqual([]);
  });

  it("submodules read-only, with a cleaned configuration and pointers of the sandbox's", async () => {
    const cwd = temporaryRepository();
    git(
      cwd,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      temporaryRepository(),
      "my lib",
    );
    git(join(cwd, "my lib"), "config", "filter.x.clean", "evil");
    const { at } = await prepare(cwd);
    const modules = "/sanddune/repo/.git/modules";
    expect(at(modules)[0]).toMatchObject({ hostPath: join(cwd, ".git/modules"), readOnly: true });
    const config = file(at(`${modules}/my lib/config`)[0]?.hostPath ?? "");
    expect(config).toContain('worktree = "/sanddune/repo/my lib"');
    expect(config).not.toContain("evil");
    expect(file(at("/sanddune/repo/my lib/.git")[0]?.hostPath ?? "")).toBe(`gitdir: ${modules}/my lib\n`);
  });
});
