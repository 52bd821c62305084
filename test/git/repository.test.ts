import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../src/boundary/boundary.ts";
import { checkNothingUnfinished, readHead, readHostState } from "../../src/git/hostState.ts";
import { openRepository } from "../../src/git/repository.ts";
import { InvalidOptionsError, NotARepositoryError, UnsupportedRepositoryError } from "../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";
import { commitFiles } from "./commitFiles.ts";

const open = (cwd: string) => runAtBoundary(openRepository(cwd));

describe("a repository is found", () => {
  it("from its top, and from a directory in it", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "sub/dir"), { recursive: true });
    const top = {
      ...{ topLevel: cwd, prefix: "", gitDirectory: join(cwd, ".git"), commonDirectory: join(cwd, ".git") },
      ...{ configDirectory: join(cwd, ".sanddune"), objectFormat: "sha1" },
    };
    expect(await open(cwd)).toEqual(top);
    expect(await open(join(cwd, "sub/dir"))).toEqual({ ...top, prefix: "sub/dir/" });
  });

  it("from a linked worktree, with the config directory of the main checkout", async () => {
    const cwd = temporaryRepository();
    const linked = join(temporaryDirectory(), "linked");
    git(cwd, "worktree", "add", "--quiet", linked);
    expect(await open(linked)).toMatchObject({
      ...{ topLevel: linked, gitDirectory: join(cwd, ".git/worktrees/linked") },
      ...{ commonDirectory: join(cwd, ".git"), configDirectory: join(cwd, ".sanddune") },
    });
  });

  it("from a submodule, which is one of its own", async () => {
    const cwd = temporaryRepository();
    git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", temporaryRepository(), "lib");
    expect(await open(join(cwd, "lib"))).toMatchObject({
      ...{ topLevel: join(cwd, "lib"), commonDirectory: join(cwd, ".git/modules/lib") },
      configDirectory: join(cwd, "lib/.sanddune"),
    });
  });

  it("with blanks in its path, and SHA-256 names", async () => {
    const cwd = join(temporaryDirectory(), "ä b");
    git(temporaryRepository("--object-format=sha256"), "clone", "--quiet", ".", cwd);
    expect(await open(cwd)).toMatchObject({ topLevel: cwd, objectFormat: "sha256" });
  });
});

describe("a directory is refused", () => {
  it("that does not exist, or is a file", async () => {
    const cwd = temporaryRepository();
    await expect(open(join(cwd, "missing"))).rejects.toBeInstanceOf(InvalidOptionsError);
    await expect(open(join(cwd, "README.md"))).rejects.toBeInstanceOf(InvalidOptionsError);
  });

  it("that is in no repository, or in a git directory", async () => {
    await expect(open(temporaryDirectory())).rejects.toBeInstanceOf(NotARepositoryError);
    await expect(open(join(temporaryRepository(), ".git"))).rejects.toBeInstanceOf(
      UnsupportedRepositoryError,
    );
  });

  it("that is a bare repository", async () => {
    const bare = join(temporaryDirectory(), "x.git");
    git(temporaryRepository(), "clone", "--quiet", "--bare", ".", bare);
    await expect(open(bare)).rejects.toThrow("is bare");
  });

  it("that git treats as a bare repository, in a checkout", async () => {
    const cwd = temporaryRepository();
    git(cwd, "clone", "--quiet", "--bare", ".", "fixtures/x.git");
    await expect(open(join(cwd, "fixtures/x.git"))).rejects.toThrow(`inside the checkout ${cwd}`);
  });

  it("with a line break in its path", async () => {
    const cwd = join(temporaryDirectory(), "a\nb");
    mkdirSync(cwd);
    await expect(open(cwd)).rejects.toThrow("line break in its path");
  });
});

describe("HEAD", () => {
  it("is a branch, or a commit if it is detached", async () => {
    const cwd = temporaryRepository();
    const sha = git(cwd, "rev-parse", "HEAD");
    git(cwd, "switch", "--quiet", "--create", "a/ä");
    expect(await runAtBoundary(readHead(cwd))).toEqual({ branch: "a/ä", sha });
    git(cwd, "switch", "--quiet", "--detach");
    expect(await runAtBoundary(readHead(cwd))).toEqual({ branch: undefined, sha });
  });

  it("without a commit is refused, with the command that makes one", async () => {
    const cwd = temporaryDirectory();
    git(cwd, "init", "--quiet");
    await expect(runAtBoundary(readHead(cwd))).rejects.toThrow("git commit --allow-empty");
  });
});

it("the state of the host leaves out symbolic refs, and refs of sanddune's own", async () => {
  const cwd = temporaryRepository();
  const sha = commitFiles(cwd, { "a.txt": "" });
  git(cwd, "tag", "v1");
  git(cwd, "symbolic-ref", "refs/heads/alias", "refs/heads/main");
  git(cwd, "update-ref", "refs/sanddune/base/x", sha);
  const { refs, worktrees, config } = await runAtBoundary(readHostState(await open(cwd)));
  expect(refs).toEqual([
    { name: "refs/heads/main", sha },
    { name: "refs/tags/v1", sha },
  ]);
  expect(worktrees).toEqual([{ path: cwd, branch: "main" }]);
  expect(config).toContainEqual(["user.name", "Dev"]);
});

describe("a checkout is refused while the user is in the middle of", () => {
  it.each([
    ["MERGE_HEAD", "merge"],
    ["CHERRY_PICK_HEAD", "cherry-pick"],
    ["REVERT_HEAD", "revert"],
    ["rebase-merge", "rebase"],
    ["rebase-apply", "rebase"],
  ])("%s", async (name, what) => {
    const repository = await open(temporaryRepository());
    expect(() => checkNothingUnfinished(repository)).not.toThrow();
    writeFileSync(join(repository.gitDirectory, name), "");
    expect(() => checkNothingUnfinished(repository)).toThrow(`git ${what} --abort`);
  });
});
