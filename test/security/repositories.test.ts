import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  BranchInUseError,
  BranchMovedError,
  CheckoutInTheWayError,
  InternalError,
  MergeConflictError,
  NotARepositoryError,
  PrerequisiteError,
  type RunResult,
  SandduneError,
  type ScriptedStep,
  UnsupportedRepositoryError,
} from "../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import {
  failureOf,
  locksOf,
  meetingPoint,
  play,
  runRefs,
  SANDBOXES,
  STRATEGIES,
  shell,
  userRefs,
  worktreesOf,
} from "./support.ts";

const WORK: ScriptedStep = { commit: "Agent's work", files: { "agent.txt": "agent\n" } };

const write = (cwd: string, files: Record<string, string>): void => {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
};
const commitFiles = (cwd: string, subject: string, files: Record<string, string>): string => {
  write(cwd, files);
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "-m", subject);
  return git(cwd, "rev-parse", "HEAD");
};

/** Each sandbox with each branch strategy that it can do. */
const COMBINATIONS = [
  ["bubblewrap", "head"],
  ["bubblewrap", "merge-to-head"],
  ["bubblewrap", "branch"],
  ["isolated", "merge-to-head"],
  ["isolated", "branch"],
] as const;

/** The run landed one commit where it says, and left nothing else. */
const expectLanded = (cwd: string, result: RunResult): void => {
  expect(result.commits).toHaveLength(1);
  expect(git(cwd, "show", `${result.branch}:agent.txt`)).toBe("agent");
  expect(git(cwd, "rev-list", result.branch).split("\n")).toContain(result.commits[0]?.sha);
  expect(result.preservedWorktreePath).toBeUndefined();
  expect(runRefs(cwd)).toBe("");
  expect(locksOf(cwd)).toEqual([]);
};

describe("while the agent works, the user", () => {
  const during = async (
    strategy: keyof typeof STRATEGIES,
    cwd: string,
    action: () => void,
    steps: ScriptedStep[] = [WORK],
  ) => {
    const { sandboxes, wait, meet } = meetingPoint();
    const running = play(cwd, [wait, ...steps], {
      branchStrategy: STRATEGIES[strategy],
      sandbox: sandboxes.bubblewrap(),
    }).then(
      (result) => ({ result, error: undefined }),
      (error: SandduneError) => ({ result: undefined, error }),
    );
    await meet(action);
    return running;
  };

  it("commits to the target branch: both commits are there, the checkout is clean", async () => {
    const cwd = temporaryRepository();
    const { result } = await during(
      "merge-to-head",
      cwd,
      () => void commitFiles(cwd, "User's", { "user.txt": "user\n" }),
    );
    expect(result?.commits).toHaveLength(1);
    expect(git(cwd, "ls-files").split("\n")).toEqual(["README.md", "agent.txt", "user.txt"]);
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });

  it("commits to the target branch in the same lines: a conflict that names the file, the checkout untouched", async () => {
    const cwd = temporaryRepository();
    const { error } = await during(
      "merge-to-head",
      cwd,
      () => void commitFiles(cwd, "User's", { "agent.txt": "user\n" }),
    );
    expect(error).toBeInstanceOf(MergeConflictError);
    expect(error).toMatchObject({ files: ["agent.txt"], commits: [{}] });
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(existsSync(join(cwd, ".git/MERGE_HEAD"))).toBe(false);
    const { sourceBranch } = error as MergeConflictError;
    expect(git(cwd, "show", `${sourceBranch}:agent.txt`)).toBe("agent");
    expect(error?.branch).toBe(sourceBranch);
  });

  it("commits to the branch that a head run works on: the agent's commits are kept beside it", async () => {
    const cwd = temporaryRepository();
    const { error } = await during("head", cwd, () =>
      git(cwd, "commit", "--quiet", "--allow-empty", "-m", "User's"),
    );
    expect(error).toBeInstanceOf(BranchMovedError);
    expect(git(cwd, "log", "-1", "--format=%s", "main")).toBe("User's");
    expect(git(cwd, "show", `${(error as BranchMovedError).keptRef}:agent.txt`)).toBe("agent");
    expect(readFileSync(join(cwd, "agent.txt"), "utf8")).toBe("agent\n");
  });

  it("rebases the target branch: the agent's commit is merged on top", async () => {
    const cwd = temporaryRepository();
    commitFiles(cwd, "To be rewritten", { "old.txt": "old\n" });
    const { result } = await during("merge-to-head", cwd, () => {
      git(cwd, "commit", "--quiet", "--amend", "-m", "Rewritten");
    });
    expect(result?.commits).toHaveLength(1);
    expect(git(cwd, "show", "main:agent.txt")).toBe("agent");
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });

  it("deletes the target branch: the commits stay on their own branch", async () => {
    const cwd = temporaryRepository();
    const { error } = await during("merge-to-head", cwd, () => {
      git(cwd, "checkout", "--quiet", "-b", "other");
      git(cwd, "branch", "--quiet", "-D", "main");
    });
    expect(error).toBeInstanceOf(BranchMovedError);
    expect(error?.commits).toHaveLength(1);
    expect(
      git(cwd, "for-each-ref", "--format=%(refname)", "--contains", error?.commits?.[0]?.sha as string),
    ).not.toBe("");
    expect(git(cwd, "branch", "--list", "main")).toBe("");
  });

  it("deletes the branch that the agent works on: the commits are kept", async () => {
    const cwd = temporaryRepository();
    const { error } = await during("branch", cwd, () =>
      git(cwd, "update-ref", "-d", "refs/heads/agent/work"),
    );
    expect(error).toBeInstanceOf(BranchMovedError);
    expect(git(cwd, "show", `${(error as BranchMovedError).keptRef}:agent.txt`)).toBe("agent");
  });

  it("checks the target branch out elsewhere: that checkout follows, the other is not touched", async () => {
    const cwd = temporaryRepository();
    const elsewhere = join(temporaryDirectory(), "elsewhere");
    const { result } = await during("merge-to-head", cwd, () => {
      git(cwd, "checkout", "--quiet", "-b", "other");
      git(cwd, "worktree", "add", "--quiet", elsewhere, "main");
    });
    expect(result?.commits).toHaveLength(1);
    expect(readFileSync(join(elsewhere, "agent.txt"), "utf8")).toBe("agent\n");
    expect(git(elsewhere, "status", "--porcelain")).toBe("");
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(existsSync(join(cwd, "agent.txt"))).toBe(false);
  });

  it("switches the checkout of a head run to another branch: neither branch nor index is mixed up", async () => {
    const cwd = temporaryRepository();
    git(cwd, "branch", "other");
    const { result, error } = await during("head", cwd, () => git(cwd, "checkout", "--quiet", "other"));
    expect(git(cwd, "rev-parse", "other")).toBe(git(cwd, "rev-list", "--max-parents=0", "main"));
    // The agent's file is there, but for the branch that is checked out now it is not committed and not staged.
    expect(git(cwd, "diff", "--cached", "--name-only")).toBe("");
    const sha = (result ?? error)?.commits?.[0]?.sha ?? (error as BranchMovedError | undefined)?.keptRef;
    expect(git(cwd, "show", `${sha}:agent.txt`)).toBe("agent");
  });

  it("edits other files: the merge goes through and the edits stay", async () => {
    const cwd = temporaryRepository();
    const { result } = await during("merge-to-head", cwd, () =>
      write(cwd, { "README.md": "edited\n", "notes.txt": "n\n" }),
    );
    expect(result?.commits).toHaveLength(1);
    expect(git(cwd, "status", "--porcelain")).toBe(" M README.md\n?? notes.txt");
    expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("edited\n");
  });

  it.each([
    ["edits", (cwd: string) => write(cwd, { "README.md": "mine\n" }), " M README.md"],
    [
      "stages",
      (cwd: string) => {
        write(cwd, { "README.md": "mine\n" });
        git(cwd, "add", "README.md");
      },
      "M  README.md",
    ],
  ])(
    "%s the very file that the agent commits: the checkout is not touched, the commits are kept",
    async (_, change, status) => {
      const cwd = temporaryRepository();
      const before = git(cwd, "rev-parse", "main");
      const { error } = await during("merge-to-head", cwd, () => change(cwd), [
        { commit: "Agent's", files: { "README.md": "agent\n" } },
      ]);
      expect(error).toBeInstanceOf(CheckoutInTheWayError);
      expect(git(cwd, "rev-parse", "main")).toBe(before);
      expect(git(cwd, "status", "--porcelain")).toBe(status.trimEnd());
      expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("mine\n");
      expect(git(cwd, "show", `${(error as CheckoutInTheWayError).sourceBranch}:README.md`)).toBe("agent");
      expect(error?.branch).toBe((error as CheckoutInTheWayError).sourceBranch);
    },
  );

  it("has an untracked file where the agent commits one: it is not overwritten", async () => {
    const cwd = temporaryRepository();
    const { error } = await during("merge-to-head", cwd, () => write(cwd, { "agent.txt": "precious\n" }));
    expect(error).toBeInstanceOf(CheckoutInTheWayError);
    expect(readFileSync(join(cwd, "agent.txt"), "utf8")).toBe("precious\n");
  });
});

it("what the user had staged and edited before a head run is theirs after it", async () => {
  const cwd = temporaryRepository();
  commitFiles(cwd, "More", { "staged.txt": "1\n", "edited.txt": "1\n" });
  write(cwd, { "staged.txt": "2\n" });
  git(cwd, "add", "staged.txt");
  write(cwd, { "edited.txt": "2\n", "untracked.txt": "1\n" });
  const result = await play(cwd, [
    shell("echo agent > agent.txt; git add agent.txt; git commit --quiet -m Agent -- agent.txt"),
  ]);
  expect(result.commits).toHaveLength(1);
  expect(git(cwd, "status", "--porcelain")).toBe(" M edited.txt\nM  staged.txt\n?? untracked.txt");
  expect(git(cwd, "show", "--name-only", "--format=", "HEAD")).toBe("agent.txt");
});

it("a failed merge-to-head run says on which branch its commits really are", async () => {
  const cwd = temporaryRepository();
  const error = await failureOf(
    play(cwd, [WORK, { exit: 3 }], { branchStrategy: STRATEGIES["merge-to-head"] }),
  );
  expect(error.commits).toHaveLength(1);
  const sha = error.commits?.[0]?.sha ?? "";
  expect(
    git(cwd, "for-each-ref", "--format=%(refname:short)", "--contains", sha, "refs/heads").split("\n"),
  ).toContain(error.branch);
});

describe.each(COMBINATIONS)("on %s with %s", (sandbox, strategy) => {
  const playHere = (cwd: string, steps: ScriptedStep[] = [WORK]) =>
    play(cwd, steps, { sandbox: SANDBOXES[sandbox](), branchStrategy: STRATEGIES[strategy] });

  it("a detached HEAD works", async () => {
    const cwd = temporaryRepository();
    git(cwd, "checkout", "--quiet", "--detach");
    const main = git(cwd, "rev-parse", "main");
    const result = await playHere(cwd);
    expectLanded(cwd, result);
    expect(result.branch).toBe(strategy === "branch" ? "agent/work" : "HEAD");
    expect(git(cwd, "rev-parse", "main")).toBe(main);
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });

  it("a linked worktree as cwd works, and only that checkout moves", async () => {
    const main = temporaryRepository();
    const cwd = join(temporaryDirectory(), "linked");
    git(main, "worktree", "add", "--quiet", "-b", "linked", cwd);
    const before = git(main, "rev-parse", "main");
    expectLanded(cwd, await playHere(cwd));
    expect(git(main, "rev-parse", "main")).toBe(before);
    expect(git(main, "status", "--porcelain")).toBe("");
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });

  it("a sub-directory as cwd is where the agent starts", async () => {
    const top = temporaryRepository();
    const cwd = join(top, "packages/app");
    mkdirSync(cwd, { recursive: true });
    commitFiles(top, "App", { "packages/app/app.txt": "app\n" });
    const result = await playHere(cwd, [shell("ls > listing.txt"), { commit: "Listing" }]);
    expect(git(top, "show", `${result.branch}:packages/app/listing.txt`).split("\n")).toContain("app.txt");
  });

  it("a SHA-256 repository works", async () => {
    const cwd = temporaryRepository("--object-format=sha256");
    const result = await playHere(cwd);
    expectLanded(cwd, result);
    expect(result.commits[0]?.sha).toHaveLength(64);
  });

  it("a shallow clone works, and stays shallow", async () => {
    const origin = temporaryRepository();
    for (const number of [1, 2, 3]) commitFiles(origin, `Commit ${number}`, { "n.txt": `${number}\n` });
    const cwd = join(temporaryDirectory(), "shallow");
    git(origin, "clone", "--quiet", "--depth=2", `file://${origin}`, cwd);
    git(cwd, "config", "user.name", "Dev");
    git(cwd, "config", "user.email", "dev@example.com");
    expectLanded(cwd, await playHere(cwd));
    expect(git(cwd, "rev-parse", "--is-shallow-repository")).toBe("true");
    git(cwd, "fsck");
  });

  it("a partial clone works", async () => {
    const origin = temporaryRepository();
    git(origin, "config", "uploadpack.allowFilter", "true");
    for (const number of [1, 2, 3])
      commitFiles(origin, `Commit ${number}`, { "n.txt": `${number}\n`.repeat(2000) });
    const cwd = join(temporaryDirectory(), "partial");
    git(origin, "clone", "--quiet", "--filter=blob:none", `file://${origin}`, cwd);
    expectLanded(cwd, await playHere(cwd));
    git(cwd, "fsck");
  });

  it("a sparse checkout stays sparse", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "in"));
    mkdirSync(join(cwd, "out"));
    commitFiles(cwd, "Directories", { "in/a.txt": "a\n", "out/b.txt": "b\n" });
    git(cwd, "sparse-checkout", "set", "in");
    expectLanded(cwd, await playHere(cwd));
    expect(existsSync(join(cwd, "out/b.txt"))).toBe(false);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(
      git(cwd, "ls-tree", "-r", "--name-only", strategy === "branch" ? "agent/work" : "main").split("\n"),
    ).toContain("out/b.txt");
  });

  it("a repository with a submodule works, and the submodule stays as it was", async () => {
    const library = temporaryRepository();
    const cwd = temporaryRepository();
    git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "library");
    git(cwd, "commit", "--quiet", "-m", "Submodule");
    const before = git(cwd, "rev-parse", "main:library");
    const result = await playHere(cwd);
    expect(result.commits).toHaveLength(1);
    expect(git(cwd, "show", `${result.branch}:agent.txt`)).toBe("agent");
    expect(git(cwd, "rev-parse", `${result.branch}:library`)).toBe(before);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(git(join(cwd, "library"), "rev-parse", "HEAD")).toBe(before);
  });

  it("a repository that borrows objects from another works", async () => {
    const origin = temporaryRepository();
    commitFiles(origin, "Borrowed", { "b.txt": "b\n" });
    const cwd = join(temporaryDirectory(), "shared");
    git(origin, "clone", "--quiet", "--shared", origin, cwd);
    git(cwd, "config", "user.name", "Dev");
    git(cwd, "config", "user.email", "dev@example.com");
    expectLanded(cwd, await playHere(cwd));
    git(cwd, "fsck");
  });

  it("a worktree of a bare repository works", async () => {
    const origin = temporaryRepository();
    const directory = temporaryDirectory();
    git(origin, "clone", "--quiet", "--bare", origin, join(directory, "bare.git"));
    const cwd = join(directory, "checkout");
    git(join(directory, "bare.git"), "worktree", "add", "--quiet", cwd, "main");
    expectLanded(cwd, await playHere(cwd));
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });

  it.each([
    "with space",
    "üñïcødé-🏜",
    "comma,in,it",
    "colon:in:it",
    "quote'and\"",
    "$(touch x)",
    "-dash",
    "back\\slash",
    "percent%20",
  ])("a path called %j works", async (name) => {
    const cwd = join(temporaryDirectory(), name);
    renameSync(temporaryRepository(), cwd);
    expectLanded(cwd, await playHere(cwd));
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });

  it("a path with a newline works, or is refused by name before any effect", async () => {
    const cwd = join(temporaryDirectory(), "new\nline");
    renameSync(temporaryRepository(), cwd);
    const ending = await playHere(cwd).catch((error: unknown) => error);
    if (!(ending instanceof Error)) return expectLanded(cwd, ending as RunResult);
    expect(ending).toBeInstanceOf(SandduneError);
    expect(ending).not.toBeInstanceOf(InternalError);
    expect(ending).not.toBeInstanceOf(PrerequisiteError);
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });
});

describe("a run is refused before any effect in", () => {
  const refused = async (cwd: string) => {
    const error = await failureOf(play(cwd, [WORK]));
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
    return error;
  };

  it("a repository without a commit", async () => {
    const cwd = temporaryDirectory();
    git(cwd, "init", "--quiet");
    expect(await refused(cwd)).toBeInstanceOf(UnsupportedRepositoryError);
  });

  it("a bare repository", async () => {
    const cwd = temporaryDirectory();
    git(cwd, "init", "--quiet", "--bare");
    expect(await refused(cwd)).toBeInstanceOf(UnsupportedRepositoryError);
  });

  it("a directory that is no repository", async () => {
    expect(await refused(temporaryDirectory())).toBeInstanceOf(NotARepositoryError);
  });

  it("the git directory itself", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(play(join(cwd, ".git"), [WORK]));
    expect(error).toBeInstanceOf(UnsupportedRepositoryError);
  });
});

it("a branch that is checked out elsewhere is refused, and that checkout is named", async () => {
  const cwd = temporaryRepository();
  const elsewhere = join(temporaryDirectory(), "elsewhere");
  git(cwd, "worktree", "add", "--quiet", "-b", "agent/work", elsewhere);
  const before = userRefs(cwd);
  const error = await failureOf(play(cwd, [WORK], { branchStrategy: STRATEGIES.branch }));
  expect(error).toBeInstanceOf(BranchInUseError);
  expect(error.message).toContain(elsewhere);
  expect(userRefs(cwd)).toBe(before);
});

it.each(["bubblewrap", "isolated"] as const)(
  "a repository that was moved finds its kept worktree again on %s",
  async (name) => {
    const former = temporaryRepository();
    const sandbox = SANDBOXES[name]();
    await play(former, [WORK, shell("echo open > open.txt")], { sandbox, branchStrategy: STRATEGIES.branch });
    const cwd = join(temporaryDirectory(), "moved");
    renameSync(former, cwd);
    mkdirSync(former);
    const result = await play(cwd, [shell("git add --all"), { commit: "Rest" }], {
      sandbox,
      branchStrategy: STRATEGIES.branch,
    });
    expect(git(cwd, "show", "agent/work:open.txt")).toBe("open");
    expect(result.commits).toHaveLength(1);
    expect(worktreesOf(cwd)).toEqual([cwd]);
  },
);

it("an agent's worktree survives `git worktree prune` and `gc` of the user's, also while the repository is moved", async () => {
  const cwd = temporaryRepository();
  const { preservedWorktreePath } = await play(cwd, [shell("echo open > open.txt")], {
    branchStrategy: STRATEGIES.branch,
  });
  git(cwd, "worktree", "prune", "--expire=now");
  git(cwd, "gc", "--quiet", "--prune=now");
  expect(readFileSync(join(preservedWorktreePath as string, "open.txt"), "utf8")).toBe("open\n");
  expect(git(preservedWorktreePath as string, "status", "--porcelain")).toBe("?? open.txt");
});
