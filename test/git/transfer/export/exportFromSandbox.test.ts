import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../../src/boundary/boundary.ts";
import { readBundle } from "../../../../src/git/transfer/bundle/readBundle.ts";
import {
  type ExportRequest,
  exportFromSandbox,
  isStillExported,
} from "../../../../src/git/transfer/export/exportFromSandbox.ts";
import type { SandboxRepository } from "../../../../src/git/transfer/sandboxRepository.ts";
import { ImportRefusedError } from "../../../../src/index.ts";
import { localHandle } from "../../../helpers/repository/localHandle.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../../helpers/repository/repository.ts";
import { writeFiles } from "../../../helpers/repository/writeFiles.ts";
import { commitFiles, statusOf } from "../../commitFiles.ts";

/** The repository of an isolated sandbox, on `main`; or of one that shares its git directory with the host. */
const scene = ({ isShared = false } = {}) => {
  const cwd = temporaryRepository();
  const base = git(cwd, "rev-parse", "HEAD");
  const gitDirectory = join(cwd, ".git");
  const sandbox: SandboxRepository = {
    handle: localHandle(cwd),
    gitDirectory,
    hostGitDirectory: isShared ? gitDirectory : undefined,
  };
  return {
    cwd,
    base,
    sandbox,
    inGit: (name: string) => join(gitDirectory, name),
    refs: () => git(cwd, "for-each-ref", "--format=%(refname)").split("\n"),
    export: async (request: Partial<ExportRequest> = {}) => {
      const path = join(temporaryDirectory(), "bundle");
      const exported = await runAtBoundary(
        exportFromSandbox(
          sandbox,
          { sourceBranch: "main", knownCommits: [base], timeoutMs: 30_000, ...request },
          path,
        ),
      );
      const { bundlePath } = exported;
      const heads = bundlePath === undefined ? undefined : readBundle(bundlePath).heads;
      return { ...exported, heads };
    },
  };
};

/** Runs a program of git's in a repository, with input. */
const gitWith = (cwd: string, input: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd, input, encoding: "utf8" }).trim();

describe.each([{ isShared: false }, { isShared: true }])(
  "a sandbox (shared with the host: $isShared)",
  (kind) => {
    it("in which nothing has happened exports no bundle", async () => {
      const { base, ...here } = scene(kind);
      const { tip, bundlePath, uncommitted, leftBehind } = await here.export();
      expect({ tip, bundlePath, uncommitted, leftBehind }).toEqual({
        ...{ tip: base, bundlePath: undefined, uncommitted: undefined, leftBehind: [] },
      });
    });

    it("exports the commits of every branch, and leaves nothing of its own behind", async () => {
      const { cwd, refs, inGit, ...here } = scene(kind);
      const tip = commitFiles(cwd, { "a.txt": "" });
      git(cwd, "switch", "--quiet", "--create", "wörk/-x");
      const other = commitFiles(cwd, { "b.txt": "" });
      git(cwd, "switch", "--quiet", "main");
      const { heads, ...exported } = await here.export();
      expect(exported.tip).toBe(tip);
      expect(Object.fromEntries(heads ?? [])).toMatchObject({
        "refs/heads/main": tip,
        "refs/heads/wörk/-x": other,
      });
      expect(refs()).toEqual(["refs/heads/main", "refs/heads/wörk/-x"]);
      expect(readdirSync(inGit(".")).filter((name) => /^sanddune-(known|index)/.test(name))).toEqual([]);
    });

    it("exports a detached HEAD", async () => {
      const { cwd, ...here } = scene(kind);
      git(cwd, "switch", "--quiet", "--detach");
      const tip = commitFiles(cwd, { "a.txt": "" });
      const { heads, ...exported } = await here.export({ sourceBranch: undefined });
      expect([exported.tip, heads?.get("HEAD")]).toEqual([tip, tip]);
    });
  },
);

describe("the source branch", () => {
  it("that the agent has renamed is reported as renamed, and its commits are exported", async () => {
    const { cwd, ...here } = scene();
    git(cwd, "branch", "--move", "renamed");
    const tip = commitFiles(cwd, { "a.txt": "" });
    const exported = await here.export();
    expect([exported.tip, exported.source]).toEqual([undefined, "renamed"]);
    expect(exported.heads?.get("refs/heads/renamed")).toBe(tip);
  });

  it("that has no commit any more is reported as broken", async () => {
    const { inGit, ...here } = scene();
    rmSync(inGit("refs/heads/main"));
    const { tip, source } = await here.export();
    expect([tip, source]).toEqual([undefined, "broken"]);
  });

  it("that is damaged is reported as broken, and the last commit in its log is exported", async () => {
    const { cwd, inGit, ...here } = scene();
    const tip = commitFiles(cwd, { "a.txt": "" });
    writeFileSync(inGit("refs/heads/main"), "");
    const exported = await here.export();
    expect([exported.tip, exported.source]).toEqual([undefined, "broken"]);
    expect([...(exported.heads?.values() ?? [])]).toContain(tip);
  });
});

describe("uncommitted work of an isolated sandbox", () => {
  it("is exported as a commit on the tip, and the agent's own index stays", async () => {
    const { cwd, base, ...here } = scene();
    commitFiles(cwd, { ".gitignore": "ignored\n", "gone.txt": "" });
    writeFiles(cwd, { "ä/new\nline": "new\n", ignored: "no\n", "staged.txt": "1\n", "run.sh": "" });
    chmodSync(join(cwd, "run.sh"), 0o755);
    symlinkSync("/nowhere", join(cwd, "link"));
    git(cwd, "add", "staged.txt");
    appendFileSync(join(cwd, "staged.txt"), "2\n");
    rmSync(join(cwd, "gone.txt"));
    const before = statusOf(cwd);
    const { uncommitted = "", tip, leftBehind } = await here.export();
    expect(git(cwd, "rev-parse", `${uncommitted}^`)).toBe(tip);
    const changed = git(
      cwd,
      "-c",
      "core.quotePath=false",
      "diff-tree",
      "-r",
      "--raw",
      "-z",
      `${tip}`,
      uncommitted,
    );
    const entries = changed.split("\0");
    const modes = Object.fromEntries(
      entries.flatMap((entry, index) => (index % 2 ? [[entry, entries[index - 1]?.split(" ")[1]]] : [])),
    );
    expect(modes).toEqual({
      ...{ "gone.txt": "000000", link: "120000", "run.sh": "100755", "staged.txt": "100644" },
      "ä/new\nline": "100644",
    });
    expect(git(cwd, "cat-file", "blob", `${uncommitted}:staged.txt`)).toBe("1\n2");
    expect(statusOf(cwd)).toBe(before);
    expect(leftBehind).toEqual([]);
  });

  it("is exported in the middle of a merge with conflicts", async () => {
    const { cwd, ...here } = scene();
    git(cwd, "switch", "--quiet", "--create", "other");
    commitFiles(cwd, { "a.txt": "other\n" });
    git(cwd, "switch", "--quiet", "main");
    commitFiles(cwd, { "a.txt": "main\n" });
    expect(() => git(cwd, "merge", "--quiet", "other")).toThrow();
    const { uncommitted = "" } = await here.export();
    expect(git(cwd, "cat-file", "blob", `${uncommitted}:a.txt`)).toContain("<<<<<<< HEAD");
    expect(statusOf(cwd)).toBe("AA a.txt");
  });

  it("is exported although the agent has damaged its index", async () => {
    const { cwd, inGit, ...here } = scene();
    writeFileSync(inGit("index"), "damaged");
    writeFiles(cwd, { "new.txt": "new\n" });
    const { uncommitted = "" } = await here.export();
    expect(git(cwd, "ls-tree", "--name-only", uncommitted).split("\n")).toEqual(["README.md", "new.txt"]);
  });

  it("in a repository of its own is reported as left behind", async () => {
    const { cwd, ...here } = scene();
    mkdirSync(join(cwd, "inner"));
    git(join(cwd, "inner"), "init", "--quiet");
    git(
      join(cwd, "inner"),
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@b",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    );
    expect((await here.export()).leftBehind).toEqual(['the repository in "inner"']);
  });

  it("is not exported from a sandbox whose files the host has", async () => {
    const { cwd, ...here } = scene({ isShared: true });
    writeFiles(cwd, { "new.txt": "" });
    expect((await here.export()).uncommitted).toBeUndefined();
  });
});

describe("commits without a ref of their own", () => {
  it("are exported if they were stashed, or left on a detached HEAD", async () => {
    const { cwd, refs, ...here } = scene();
    const stash = (content: string) => {
      writeFileSync(join(cwd, "README.md"), content);
      git(cwd, "stash", "--quiet");
      return git(cwd, "rev-parse", "refs/stash");
    };
    const stashes = [stash("one\n"), stash("two\n")];
    git(cwd, "switch", "--quiet", "--detach");
    const left = commitFiles(cwd, { "left.txt": "" });
    git(cwd, "switch", "--quiet", "--detach", "main");
    git(cwd, "switch", "--quiet", "main");
    const { heads, ownRefs = "?" } = await here.export();
    expect([...(heads?.values() ?? [])]).toEqual(expect.arrayContaining([...stashes, left]));
    expect([...(heads ?? [])].find(([, sha]) => sha === left)?.[0]).toBe(`${ownRefs}left-${left}`);
    expect(refs()).toEqual(["refs/heads/main", "refs/stash"]);
  });

  it("are not exported if the agent has replaced them", async () => {
    const { cwd, ...here } = scene();
    const replaced = commitFiles(cwd, { "a.txt": "" });
    git(cwd, "commit", "--quiet", "--amend", "-m", "Amended");
    const { bundlePath = "" } = await here.export();
    git(cwd, "reflog", "expire", "--expire=now", "--all");
    git(cwd, "gc", "--quiet", "--prune=now");
    git(cwd, "bundle", "unbundle", bundlePath);
    expect(() => git(cwd, "cat-file", "-e", replaced)).toThrow();
  });
});

describe("what an agent has put into its git directory", () => {
  it("does not run: hooks, a file system monitor", async () => {
    const { cwd, inGit, ...here } = scene();
    commitFiles(cwd, { "a.txt": "" });
    const trap = join(temporaryDirectory(), "trap");
    mkdirSync(inGit("hooks"), { recursive: true });
    for (const name of ["reference-transaction", "post-index-change"])
      writeFileSync(inGit(`hooks/${name}`), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
    git(cwd, "config", "core.fsmonitor", `touch ${trap}; :`);
    await here.export();
    expect(existsSync(trap)).toBe(false);
  });

  it.each<[string, (cwd: string, tip: string, base: string) => void]>([
    [
      "a replaced object",
      (cwd, tip, base) => git(cwd, "replace", tip, git(cwd, "commit-tree", "-m", "x", `${base}^{tree}`)),
    ],
    ["a graft", (cwd, tip) => writeFileSync(join(cwd, ".git/info/grafts"), `${tip}\n`)],
    [
      "a common directory elsewhere",
      (cwd) => writeFileSync(join(cwd, ".git/commondir"), temporaryRepository()),
    ],
  ])("does not hide commits: %s", async (_, hide) => {
    const { cwd, base, ...here } = scene();
    const first = commitFiles(cwd, { "a.txt": "" });
    const tip = commitFiles(cwd, { "b.txt": "" });
    mkdirSync(join(cwd, ".git/info"), { recursive: true });
    hide(cwd, tip, base);
    const { bundlePath = "", heads } = await here.export();
    expect(heads?.get("refs/heads/main")).toBe(tip);
    const host = temporaryRepository();
    gitWith(host, "", "fetch", "--quiet", cwd, `${base}:refs/heads/base`);
    gitWith(host, "", "bundle", "unbundle", bundlePath);
    expect(git(host, "rev-list", tip, `^${base}`).split("\n")).toEqual([tip, first]);
  });

  it.each([
    ["a pipe among the refs", "mkfifo .git/refs/heads/pipe"],
    ["a pipe in the place of HEAD", "rm .git/HEAD; mkfifo .git/HEAD"],
    ["a link in its own place", "mv .git moved; ln -s moved .git"],
  ])("is refused rather than waited for, or followed: %s", async (_, spoil) => {
    const { cwd, ...here } = scene();
    commitFiles(cwd, { "a.txt": "" });
    execFileSync("sh", ["-c", spoil], { cwd });
    await expect(here.export()).rejects.toBeInstanceOf(ImportRefusedError);
  });

  it("as a lock is removed only if the agent was killed", async () => {
    const { cwd, inGit, ...here } = scene();
    git(cwd, "switch", "--quiet", "--detach");
    commitFiles(cwd, { "a.txt": "" });
    for (const lock of ["index.lock", "refs/heads/main.lock"]) writeFileSync(inGit(lock), "");
    await here.export();
    expect([existsSync(inGit("index.lock")), existsSync(inGit("refs/heads/main.lock"))]).toEqual([
      true,
      true,
    ]);
    await here.export({ breaksLocks: true });
    expect([existsSync(inGit("index.lock")), existsSync(inGit("refs/heads/main.lock"))]).toEqual([
      false,
      false,
    ]);
  });
});

describe("a repository without a commit", () => {
  it("has a broken branch, and exports nothing", async () => {
    const { cwd, ...here } = scene();
    rmSync(join(cwd, ".git"), { recursive: true });
    git(cwd, "init", "--quiet", "--initial-branch=main");
    const { tip, source, bundlePath } = await here.export();
    expect({ tip, source, bundlePath }).toEqual({ tip: undefined, source: "broken", bundlePath: undefined });
  });
});

it("known commits that the repository has not got are ignored", async () => {
  const { cwd, base, ...here } = scene();
  const tip = commitFiles(cwd, { "a.txt": "" });
  const { heads } = await here.export({ knownCommits: [base, "1".repeat(40)] });
  expect(heads?.get("refs/heads/main")).toBe(tip);
});

it("checkpoints are packed beside the commits, as far as they are those that the host knows", async () => {
  const { cwd, base, ...here } = scene();
  const checkpoint = git(cwd, "commit-tree", "-p", base, "-m", "Checkpoint", "HEAD^{tree}");
  const { checkpointsPath = "", bundlePath } = await here.export({ checkpoint, recordsCheckpoints: true });
  expect(Object.fromEntries(readBundle(checkpointsPath).heads)).toEqual({
    "refs/sanddune/checkpoint": checkpoint,
  });
  expect(bundlePath).toBeUndefined();
  const unknown = await here.export({ checkpoint: "1".repeat(40), recordsCheckpoints: true });
  expect(unknown.checkpointsPath).toBeUndefined();
});

it("a sandbox whose refs have changed since is not exported any more", async () => {
  const { cwd, sandbox, ...here } = scene();
  commitFiles(cwd, { "a.txt": "" });
  const exported = await here.export();
  expect(await runAtBoundary(isStillExported(sandbox, exported))).toBe(true);
  git(cwd, "branch", "later");
  expect(await runAtBoundary(isStillExported(sandbox, exported))).toBe(false);
});
