import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { parseConfigList } from "../../../src/git/configFile.ts";
import { diffTree } from "../../../src/git/diffTree.ts";
import { lockBranch } from "../../../src/git/locks/locks.ts";
import { type MergePlan, mergeToHead } from "../../../src/git/merge/mergeToHead.ts";
import { openRepository } from "../../../src/git/repository.ts";
import {
  BranchMovedError,
  CheckoutInTheWayError,
  ConfigChangeError,
  EmbeddedRepositoryError,
  MergeConflictError,
} from "../../../src/index.ts";
import { gitCalls } from "../../helpers/repository/gitCalls.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { commitFiles, statusOf } from "../commitFiles.ts";

const runId = "20300102-030405-abcdef";

/** A repository on `main`, with a branch `work` that `change` commits to in a checkout of its own. */
const scene = (change: (worktree: string) => void, before: (cwd: string) => void = () => {}) => {
  const cwd = temporaryRepository();
  before(cwd);
  const worktree = join(temporaryDirectory(), "work");
  git(cwd, "worktree", "add", "--quiet", "-b", "work", worktree);
  change(worktree);
  const tipOf = (name: string) => git(cwd, "rev-parse", name);
  const warnings: string[] = [];
  return {
    cwd,
    tipOf,
    warnings,
    path: (name: string) => join(cwd, name),
    merge: async (changes: Partial<MergePlan> = {}) => {
      const repository = await runAtBoundary(openRepository(cwd));
      const config = parseConfigList(git(cwd, "config", "--list", "-z"));
      const plan = { repository, runId, sourceBranch: "work", sourceTip: tipOf("work") };
      const onWarning = (sentence: string) => warnings.push(sentence);
      return runAtBoundary(
        mergeToHead({ ...plan, targetBranch: "main", hostConfig: config, onWarning, ...changes }),
      );
    },
  };
};

const adds = (files: Readonly<Record<string, string>>) => (worktree: string) => {
  commitFiles(worktree, files);
};

describe("a target that has not moved", () => {
  it("is fast-forwarded, with its checkout", async () => {
    const { cwd, merge, tipOf, path } = scene(adds({ "a.txt": "a\n" }));
    await merge();
    expect(tipOf("main")).toBe(tipOf("work"));
    expect(readFileSync(path("a.txt"), "utf8")).toBe("a\n");
    expect(statusOf(cwd)).toBe("");
  });

  it("stays where it is if it has the commits already", async () => {
    const { cwd, merge, tipOf } = scene(adds({ "a.txt": "a\n" }));
    const sourceTip = tipOf("work");
    git(cwd, "merge", "--quiet", "--no-ff", "--no-edit", "work");
    const before = tipOf("main");
    await merge({ sourceTip });
    expect(tipOf("main")).toBe(before);
  });
});

describe("a merge that knows what an import has read", () => {
  const knownOf = async ({ cwd, tipOf }: ReturnType<typeof scene>) => {
    const [from, to] = [tipOf("main"), tipOf("work")];
    const files = await runAtBoundary(diffTree({ cwd }, from, to));
    return { from, to, files };
  };

  it("asks git only for the tip of the target, and moves it", async () => {
    const work = scene((worktree) => {
      commitFiles(worktree, { "a.txt": "a\n", "\u00e4/b": "b\n" });
      unlinkSync(join(worktree, "README.md"));
      git(worktree, "commit", "--quiet", "-a", "-m", "Delete it");
    });
    const known = await knownOf(work);
    const calls = gitCalls();
    await work.merge({ known });
    expect(calls.started().slice(1)).toEqual(["rev-parse", "merge"]);
    expect(work.tipOf("main")).toBe(work.tipOf("work"));
    expect(statusOf(work.cwd)).toBe("");
  });

  it("asks again if the target has moved", async () => {
    const work = scene(adds({ "a.txt": "a\n" }));
    const known = await knownOf(work);
    const before = commitFiles(work.cwd, { "b.txt": "b\n" });
    await work.merge({ known });
    expect(git(work.cwd, "log", "-1", "--format=%P", "main")).toBe(`${before} ${work.tipOf("work")}`);
  });

  it("refuses what any merge refuses", async () => {
    const work = scene(adds({ ".sanddune/config.json": "{}\n" }));
    const known = await knownOf(work);
    await expect(work.merge({ known })).rejects.toBeInstanceOf(ConfigChangeError);
    expect(work.tipOf("main")).toBe(known.from);
  });

  it.runIf(process.platform === "linux")("merges names that are not text", async () => {
    const work = scene((worktree) => {
      writeFileSync(Buffer.from(`${worktree}/\u00ff`, "latin1"), "odd\n");
      git(worktree, "add", "--all");
      git(worktree, "commit", "--quiet", "-m", "An odd name");
    });
    await work.merge({ known: await knownOf(work) });
    expect(work.tipOf("main")).toBe(work.tipOf("work"));
    expect(statusOf(work.cwd)).toBe("");
  });
});

describe("a target that has moved", () => {
  it("gets a merge commit of both, by the user", async () => {
    const { cwd, merge, tipOf } = scene(adds({ "a.txt": "a\n" }));
    const before = commitFiles(cwd, { "b.txt": "b\n" });
    await merge();
    expect(git(cwd, "log", "-1", "--format=%P|%s|%an", "main")).toBe(
      `${before} ${tipOf("work")}|Merge branch 'work'|Dev`,
    );
    expect([existsSync(join(cwd, "a.txt")), existsSync(join(cwd, "b.txt"))]).toEqual([true, true]);
    expect(statusOf(cwd)).toBe("");
  });

  it("gets a merge commit also where the user has configured no identity", async () => {
    const { cwd, merge } = scene(adds({ "a.txt": "a\n" }));
    commitFiles(cwd, { "b.txt": "b\n" });
    await merge({ hostConfig: [] });
    expect(git(cwd, "log", "-1", "--format=%an %ae", "main")).toBe("sanddune sanddune@sanddune.invalid");
  });

  it("is not merged without the signature that the user wants", async () => {
    const { cwd, merge, tipOf } = scene(adds({ "a.txt": "a\n" }));
    const before = commitFiles(cwd, { "b.txt": "b\n" });
    git(cwd, "config", "commit.gpgSign", "yes");
    git(cwd, "config", "gpg.program", "false");
    await expect(merge()).rejects.toThrow("gpg failed to sign");
    expect(tipOf("main")).toBe(before);
  });

  it("is left alone by a conflict, whose files are named", async () => {
    const { cwd, merge, tipOf } = scene(adds({ "é\n.txt": "theirs\n", "fine.txt": "1\n" }));
    const before = commitFiles(cwd, { "é\n.txt": "ours\n" });
    const error = await merge().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MergeConflictError);
    expect((error as MergeConflictError).files).toEqual(["é\n.txt"]);
    expect(tipOf("main")).toBe(before);
    expect(statusOf(cwd)).toBe("");
  });
});

describe("a target that is checked out", () => {
  it("nowhere is moved without touching the checkout of another branch", async () => {
    const { cwd, merge, tipOf, path } = scene(adds({ "a.txt": "a\n" }));
    git(cwd, "switch", "--quiet", "--create", "other");
    await merge();
    expect(tipOf("main")).toBe(tipOf("work"));
    expect(existsSync(path("a.txt"))).toBe(false);
    expect(statusOf(cwd)).toBe("");
  });

  it("in a linked worktree moves with that one", async () => {
    const { cwd, merge, tipOf, path } = scene(adds({ "a.txt": "a\n" }));
    git(cwd, "switch", "--quiet", "--create", "other");
    const linked = join(temporaryDirectory(), "linked");
    git(cwd, "worktree", "add", "--quiet", linked, "main");
    await merge();
    expect(git(linked, "rev-parse", "HEAD")).toBe(tipOf("work"));
    expect(existsSync(join(linked, "a.txt"))).toBe(true);
    expect(existsSync(path("a.txt"))).toBe(false);
  });

  it("nowhere, but is being rebased, is left alone: the rebase would undo the merge", async () => {
    const { cwd, merge, tipOf } = scene(adds({ "a.txt": "a\n" }));
    commitFiles(cwd, { "c.txt": "1\n" });
    git(cwd, "branch", "onto", "HEAD~");
    git(cwd, "switch", "--quiet", "onto");
    commitFiles(cwd, { "c.txt": "2\n" });
    expect(() => git(cwd, "rebase", "--quiet", "onto", "main")).toThrow();
    const before = tipOf("main");
    await expect(merge()).rejects.toThrow("a rebase of it is under way");
    expect(tipOf("main")).toBe(before);
  });

  it("by an agent of another run is left alone", async () => {
    const { cwd, merge, tipOf } = scene(adds({ "a.txt": "a\n" }));
    const before = tipOf("main");
    const repository = await runAtBoundary(openRepository(cwd));
    const held = lockBranch(repository, "main", "another-run");
    const error = await runAtBoundary(
      Effect.scoped(
        Effect.andThen(
          held,
          Effect.promise(() => merge().catch((reason: unknown) => reason)),
        ),
      ),
    );
    expect(error).toBeInstanceOf(CheckoutInTheWayError);
    expect((error as Error).message).toContain("in use by run another-run on branch main");
    expect(tipOf("main")).toBe(before);
  });
});

describe("a detached HEAD", () => {
  const targetBranch = undefined;

  it("is moved, and no branch with it", async () => {
    const { cwd, merge, tipOf, path } = scene(adds({ "a.txt": "a\n" }));
    git(cwd, "switch", "--quiet", "--detach");
    const before = tipOf("main");
    await merge({ targetBranch });
    expect([tipOf("HEAD"), tipOf("main")]).toEqual([tipOf("work"), before]);
    expect(existsSync(path("a.txt"))).toBe(true);
    expect(git(cwd, "branch", "--show-current")).toBe("");
  });

  it("that was switched to a branch meanwhile is left alone", async () => {
    const { merge, tipOf } = scene(adds({ "a.txt": "a\n" }));
    const before = tipOf("main");
    await expect(merge({ targetBranch })).rejects.toThrow("was switched to a branch during the run");
    expect(tipOf("main")).toBe(before);
  });
});

it("a target that was deleted meanwhile is not made again", async () => {
  const { cwd, merge } = scene(adds({ "a.txt": "a\n" }));
  git(cwd, "switch", "--quiet", "--create", "other");
  git(cwd, "branch", "--quiet", "-D", "main");
  await expect(merge()).rejects.toBeInstanceOf(BranchMovedError);
  expect(git(cwd, "branch", "--list", "main")).toBe("");
});

it("a branch that has been checked out, but has no commit yet, is not merged into", async () => {
  const { cwd, merge } = scene(adds({ "a.txt": "a\n" }));
  git(cwd, "switch", "--quiet", "--orphan", "empty");
  await expect(merge({ targetBranch: "empty" })).rejects.toThrow("was deleted during the run");
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
});

describe("uncommitted work in the checkout", () => {
  it("that the merge does not concern stays, staged or not", async () => {
    const { cwd, merge, tipOf } = scene(adds({ "a.txt": "a\n" }));
    commitFiles(cwd, { "mine.txt": "1\n", "other.txt": "1\n" });
    appendFileSync(join(cwd, "mine.txt"), "2\n");
    git(cwd, "add", "mine.txt");
    unlinkSync(join(cwd, "other.txt"));
    writeFileSync(join(cwd, "new\nline"), "");
    const before = statusOf(cwd);
    await merge();
    expect(statusOf(cwd)).toBe(before);
    expect(git(cwd, "merge-base", "--is-ancestor", tipOf("work"), "main")).toBe("");
  });

  it.each<[string, (cwd: string) => void]>([
    ["a changed file", (cwd) => appendFileSync(join(cwd, "README.md"), "mine\n")],
    ["a staged file", (cwd) => git(cwd, "add", "--all")],
    ["an untracked file", (cwd) => writeFileSync(join(cwd, "a.txt"), "mine\n")],
    [
      "an ignored file, which no commit has",
      (cwd) => {
        writeFileSync(join(cwd, ".git/info/exclude"), "a.txt\n");
        writeFileSync(join(cwd, "a.txt"), "mine\n");
      },
    ],
  ])("in the way is not overwritten: %s", async (title, change) => {
    const { cwd, merge, tipOf, path } = scene(adds({ "README.md": "theirs\n", "a.txt": "theirs\n" }));
    if (title === "a staged file") writeFileSync(path("README.md"), "mine\n");
    change(cwd);
    const before = [tipOf("main"), statusOf(cwd)];
    await expect(merge()).rejects.toThrow("changes that are not committed are in the way");
    expect([tipOf("main"), statusOf(cwd)]).toEqual(before);
    expect(existsSync(path("a.txt")) ? readFileSync(path("a.txt"), "utf8") : "mine\n").toBe("mine\n");
  });
});

it.each([
  ["the checkout", "main", "index.lock"],
  ["a branch that is checked out nowhere", "other", "refs/heads/main.lock"],
])("a lock that another git has left on %s is named as the reason, and stays", async (_, current, lock) => {
  const { cwd, merge, tipOf, path } = scene(adds({ "a.txt": "a\n" }));
  if (current !== "main") git(cwd, "switch", "--quiet", "--create", current);
  const before = tipOf("main");
  writeFileSync(path(`.git/${lock}`), "");
  const error = await merge().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CheckoutInTheWayError);
  expect((error as CheckoutInTheWayError).problem).toBe(
    `git's lock ${path(`.git/${lock}`)} exists: another git is running, or has crashed`,
  );
  expect([tipOf("main"), existsSync(path(`.git/${lock}`))]).toEqual([before, true]);
  expect(statusOf(cwd)).toBe("");
});

it("a lock that another git holds for a moment only delays the merge", async () => {
  const { cwd, merge, tipOf, path } = scene(adds({ "a.txt": "a\n" }));
  git(cwd, "switch", "--quiet", "--create", "other");
  const before = tipOf("main");
  const lock = path(".git/refs/heads/main.lock");
  writeFileSync(lock, "");
  // Longer than git itself waits, and shorter than all attempts together.
  setTimeout(() => unlinkSync(lock), 300);
  await merge();
  expect(tipOf("main")).not.toBe(before);
});

describe("what the user's git would act on is for a person to merge:", () => {
  it("a change of the config directory", async () => {
    const { merge, tipOf } = scene(adds({ ".sanddune/Dockerfile": "FROM x\n" }));
    const before = tipOf("main");
    await expect(merge()).rejects.toBeInstanceOf(ConfigChangeError);
    expect(tipOf("main")).toBe(before);
  });

  it("a directory that git treats as a bare repository", async () => {
    const files = {
      "sub/HEAD": "ref: refs/heads/x\n",
      "sub/objects/x": "",
      "sub/refs/x": "",
      "sub/config": "",
    };
    const { merge, tipOf } = scene(adds(files));
    const before = tipOf("main");
    await expect(merge()).rejects.toBeInstanceOf(EmbeddedRepositoryError);
    expect(tipOf("main")).toBe(before);
  });
});

describe("in the checkout, after the merge,", () => {
  it("files have their modes, links and names", async () => {
    const { cwd, merge, path } = scene(
      (worktree) => {
        chmodSync(join(worktree, "run.sh"), 0o755);
        symlinkSync("nowhere", join(worktree, "link"));
        git(worktree, "mv", "readme.md", "README.md");
        commitFiles(worktree, { "ä/new\nline\t": "x\n", "-n": "" });
      },
      (cwd) => {
        commitFiles(cwd, { "run.sh": "#!/bin/sh\n" });
        git(cwd, "mv", "README.md", "readme.md");
        commitFiles(cwd, {});
      },
    );
    await merge();
    expect(statSync(path("run.sh")).mode & 0o111).toBe(0o111);
    expect(readlinkSync(path("link"))).toBe("nowhere");
    expect(readFileSync(path("ä/new\nline\t"), "utf8")).toBe("x\n");
    expect([existsSync(path("README.md")), existsSync(path("readme.md"))]).toEqual([true, false]);
    expect(statusOf(cwd)).toBe("");
  });

  it("line ends are the user's", async () => {
    const { cwd, merge, path } = scene(adds({ "a.txt": "one\ntwo\n" }), (repository) =>
      git(repository, "config", "core.autocrlf", "true"),
    );
    await merge();
    expect(readFileSync(path("a.txt"), "utf8")).toBe("one\r\ntwo\r\n");
    expect(git(cwd, "cat-file", "blob", "main:a.txt")).toBe("one\ntwo");
    expect(statusOf(cwd)).toBe("");
  });

  it("a submodule is recorded, and not entered", async () => {
    const { cwd, merge, path } = scene((worktree) => {
      const library = temporaryRepository();
      git(worktree, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib");
      commitFiles(worktree, {});
    });
    await merge();
    expect(git(cwd, "ls-tree", "main", "lib")).toMatch(/^160000 commit /);
    expect(existsSync(path("lib/README.md"))).toBe(false);
  });

  it("what was in the place of a directory that the merge removes is kept if git does not know it", async () => {
    const { merge, path } = scene(
      (worktree) => {
        git(worktree, "rm", "--quiet", "-r", "dir");
        commitFiles(worktree, { dir: "a file now\n" });
      },
      (cwd) => void commitFiles(cwd, { "dir/a.txt": "1\n" }),
    );
    mkdirSync(path("dir/mine"));
    writeFileSync(path("dir/mine/b.txt"), "mine\n");
    await expect(merge()).rejects.toBeInstanceOf(CheckoutInTheWayError);
    expect(readFileSync(path("dir/mine/b.txt"), "utf8")).toBe("mine\n");
    expect(readFileSync(path("dir/a.txt"), "utf8")).toBe("1\n");
  });
});
