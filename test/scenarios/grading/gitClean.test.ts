import { appendFileSync, chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkGitClean } from "../../../src/scenarios/grading/gitClean.ts";
import { hostCommandRunner } from "../../../src/scenarios/sandbox/hostCommandRunner.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { asOrdinaryUser } from "../../helpers/runtimes/ordinaryUser.ts";

const check = async (project: string, expected: boolean) => {
  const commandRunner = hostCommandRunner(project);
  onTestFinished(() => commandRunner.close());
  return checkGitClean(commandRunner, expected, { timeoutMs: 30_000, signal: new AbortController().signal });
};

const setVariable = (name: string, value: string): void => {
  process.env[name] = value;
  onTestFinished(() => {
    delete process.env[name];
  });
};

/** A repository with one thing changed about it. */
const repositoryWith = (change: (path: string) => void): string => {
  const path = temporaryRepository();
  change(path);
  return path;
};

const addUntracked = (path: string) => writeFileSync(join(path, "new.txt"), "new");

test.each<[string, (path: string) => void, RegExp]>([
  ["as it was committed", () => {}, /^clean$/],
  [
    "with files that it ignores",
    (path) => {
      writeFileSync(join(path, ".gitignore"), "*.log\n");
      git(path, "add", ".");
      git(path, "commit", "--quiet", "-m", "Ignore logs");
      writeFileSync(join(path, "a.log"), "");
    },
    /^clean$/,
  ],
  [
    "with the variables of another repository around",
    () => {
      setVariable("GIT_DIR", temporaryRepository());
      setVariable("GIT_WORK_TREE", temporaryDirectory());
      setVariable("GIT_INDEX_FILE", "/nonexistent/index");
    },
    /^clean$/,
  ],
])("A repository %s is clean", async (_, change, detail) => {
  const project = repositoryWith(change);
  expect(await check(project, true)).toEqual({ ok: true, detail: expect.stringMatching(detail) });
  expect(await check(project, false)).toEqual({ ok: false, detail: expect.stringMatching(detail) });
});

test.each<[string, (path: string) => void, RegExp]>([
  [
    "a changed file",
    (path) => appendFileSync(join(path, "README.md"), "more"),
    /^not clean: {2}M README\.md$/,
  ],
  ["a deleted file", (path) => rmSync(join(path, "README.md")), /^not clean: {2}D README\.md$/],
  ["an untracked file", addUntracked, /^not clean: \?\? new\.txt$/],
  [
    "a staged file",
    (path) => {
      addUntracked(path);
      git(path, "add", ".");
    },
    /^not clean: A {2}new\.txt$/,
  ],
  [
    "untracked files that its configuration hides",
    (path) => {
      addUntracked(path);
      git(path, "config", "status.showUntrackedFiles", "no");
    },
    /new\.txt/,
  ],
  [
    "untracked files that a file elsewhere excludes",
    (path) => {
      addUntracked(path);
      const excludes = join(temporaryDirectory(), "excludes");
      writeFileSync(excludes, "*\n");
      git(path, "config", "core.excludesFile", excludes);
    },
    /new\.txt/,
  ],
  [
    "untracked files, and a configuration that names another work tree",
    (path) => {
      addUntracked(path);
      const elsewhere = temporaryDirectory();
      writeFileSync(join(elsewhere, "README.md"), "# Fixture\n");
      git(path, "config", "core.worktree", elsewhere);
    },
    /new\.txt/,
  ],
  [
    "many changes",
    (path) => {
      for (let i = 0; i < 9; i++) writeFileSync(join(path, `${i}.txt`), "");
    },
    /^not clean: (\?\? \d\.txt, ){5}and 4 more$/,
  ],
])("A repository with %s is not clean", async (_, change, detail) => {
  const project = repositoryWith(change);
  expect(await check(project, false)).toEqual({ ok: true, detail: expect.stringMatching(detail) });
  expect(await check(project, true)).toEqual({ ok: false, detail: expect.stringMatching(detail) });
});

test.each<[string, () => string, RegExp]>([
  ["is no repository", temporaryDirectory, /not a git repository/],
  [
    "is a directory in a repository",
    () => {
      const path = join(temporaryRepository(), "project");
      mkdirSync(path);
      return path;
    },
    /not a git repository/,
  ],
  [
    "has a repository that is broken",
    () => repositoryWith((path) => rmSync(join(path, ".git/HEAD"))),
    /not a git repository/,
  ],
  [
    "has a repository whose data is gone",
    () => repositoryWith((path) => rmSync(join(path, ".git/objects"), { recursive: true })),
    /git status failed/,
  ],
])("A project that %s is neither clean nor not", async (_, make, detail) => {
  const project = make();
  for (const expected of [true, false]) {
    expect(await check(project, expected)).toEqual({ ok: false, detail: expect.stringMatching(detail) });
  }
});

test("A directory that git cannot look into is not taken for clean", async () => {
  const project = repositoryWith((path) => {
    mkdirSync(join(path, "closed"));
    chmodSync(join(path, "closed"), 0);
  });
  await asOrdinaryUser(project, async () => {
    expect(await check(project, true)).toMatchObject({
      ok: false,
      detail: expect.stringMatching("could not look at everything"),
    });
  });
});

test("Nothing of the repository is executed or changed by looking at it", async () => {
  const canary = join(temporaryDirectory(), "canary");
  const project = repositoryWith((path) => {
    git(path, "config", "core.fsmonitor", `touch ${canary}`);
    writeFileSync(join(path, ".git/hooks/post-index-change"), `#!/bin/sh\ntouch ${canary}\n`, {
      mode: 0o755,
    });
  });
  expect(await check(project, true)).toMatchObject({ ok: true });
  expect(() => rmSync(canary)).toThrow("ENOENT");
});

/** A repository with a submodule, which is as it was committed. */
const withSubmodule = (): { readonly project: string; readonly submodule: string } => {
  const project = temporaryRepository();
  const source = temporaryRepository();
  git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "lib");
  git(project, "commit", "--quiet", "-m", "Add a submodule");
  const submodule = join(project, "lib");
  // A machine may have no identity of its own.
  git(submodule, "config", "user.name", "Dev");
  git(submodule, "config", "user.email", "dev@example.com");
  return { project, submodule };
};

test.each<[string, (submodule: string) => void]>([
  ["an untracked file", (submodule) => addUntracked(submodule)],
  [
    "a changed file, which its own settings ignore",
    (submodule) => appendFileSync(join(submodule, "README.md"), "more"),
  ],
  ["another commit", (submodule) => git(submodule, "commit", "--quiet", "--allow-empty", "-m", "Another")],
])("A repository is not clean with %s in a submodule", async (_, change) => {
  const { project, submodule } = withSubmodule();
  git(project, "config", "submodule.lib.ignore", "all");
  expect(await check(project, true)).toEqual({ ok: true, detail: "clean" });
  change(submodule);
  expect(await check(project, true)).toEqual({
    ok: false,
    detail: expect.stringMatching(/^not clean: .*lib/),
  });
});

test("No program of a submodule's settings is run", async () => {
  const { project, submodule } = withSubmodule();
  const marker = join(temporaryDirectory(), "ran");
  git(submodule, "config", "core.fsmonitor", `touch ${marker}; false`);
  addUntracked(submodule);
  expect(await check(project, true)).toMatchObject({ ok: false });
  expect(existsSync(marker)).toBe(false);
});
