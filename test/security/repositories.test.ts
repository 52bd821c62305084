import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { readHostState } from "../../src/git/hostState.ts";
import { mergeToHead } from "../../src/git/mergeToHead.ts";
import { openRepository } from "../../src/git/repository.ts";
import {
  BranchInUseError,
  BranchMovedError,
  CheckoutInTheWayError,
  MergeConflictError,
  NotARepositoryError,
  type RunResult,
  type SandduneError,
  type ScriptedStep,
  UnsupportedRepositoryError,
} from "../../src/index.ts";
import { runAtBoundary } from "../../src/process/boundary.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import {
  failureOf,
  locksOf,
  meetingPoint,
  play,
  runRefs,
  SANDBOXES,
  type SandboxName,
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

/** The run landed one commit where it says, and left nothing else. */
const expectLanded = (cwd: string, result: RunResult): void => {
  expect(result.commits).toHaveLength(1);
  expect(git(cwd, "show", `${result.branch}:agent.txt`)).toBe("agent");
  expect(git(cwd, "rev-list", result.branch).split("\n")).toContain(result.commits[0]?.sha);
  expect(result.preservedWorktreePath).toBeUndefined();
  expect(runRefs(cwd)).toBe("");
  expect(locksOf(cwd)).toEqual([]);
};

/** A repository to which a run has brought the agent's work, on a branch of its own. */
const repositoryWithWork = (files: Record<string, string> = { "agent.txt": "agent\n" }): string => {
  const cwd = temporaryRepository();
  git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Second");
  git(cwd, "checkout", "--quiet", "-b", "sanddune/work");
  commitFiles(cwd, "Agent's", files);
  git(cwd, "checkout", "--quiet", "main");
  return cwd;
};

/** Lands that work on `main`, as a run does in the end; gives the error, if there is one. */
const merge = async (cwd: string): Promise<unknown> => {
  const repository = await Effect.runPromise(openRepository(cwd));
  const { config } = await Effect.runPromise(readHostState(repository));
  const plan = {
    ...{ repository, runId: "20000101-000000-abcdef", hostConfig: config, targetBranch: "main" },
    ...{ sourceBranch: "sanddune/work", sourceTip: git(cwd, "rev-parse", "sanddune/work") },
  };
  return runAtBoundary(mergeToHead(plan)).catch((error: unknown) => error);
};

describe("work that is merged when the user has meanwhile", () => {
  it("rewritten the target branch is merged on top", async () => {
    const cwd = repositoryWithWork();
    git(cwd, "commit", "--quiet", "--amend", "--allow-empty", "-m", "Rewritten");
    expect(await merge(cwd)).toBeUndefined();
    expect(git(cwd, "show", "main:agent.txt")).toBe("agent");
    expect(git(cwd, "log", "--format=%s", "main").split("\n")).toContain("Rewritten");
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });

  it("deleted the target branch stays on its own branch", async () => {
    const cwd = repositoryWithWork();
    git(cwd, "checkout", "--quiet", "-b", "other");
    git(cwd, "branch", "--quiet", "-D", "main");
    expect(await merge(cwd)).toBeInstanceOf(BranchMovedError);
    expect(git(cwd, "show", "sanddune/work:agent.txt")).toBe("agent");
    expect(git(cwd, "branch", "--list", "main")).toBe("");
  });

  it("checked the target branch out elsewhere: that checkout follows, the other is not touched", async () => {
    const cwd = repositoryWithWork();
    const elsewhere = join(temporaryDirectory(), "elsewhere");
    git(cwd, "checkout", "--quiet", "-b", "other");
    git(cwd, "worktree", "add", "--quiet", elsewhere, "main");
    expect(await merge(cwd)).toBeUndefined();
    expect(readFileSync(join(elsewhere, "agent.txt"), "utf8")).toBe("agent\n");
    expect(git(elsewhere, "status", "--porcelain")).toBe("");
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(existsSync(join(cwd, "agent.txt"))).toBe(false);
  });

  it("edited other files goes through, and the edits stay", async () => {
    const cwd = repositoryWithWork();
    write(cwd, { "README.md": "edited\n", "notes.txt": "n\n" });
    expect(await merge(cwd)).toBeUndefined();
    expect(git(cwd, "show", "main:agent.txt")).toBe("agent");
    expect(git(cwd, "status", "--porcelain")).toBe(" M README.md\n?? notes.txt");
    expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("edited\n");
  });

  it("staged the very file that the agent has committed does not touch the checkout", async () => {
    const cwd = repositoryWithWork({ "README.md": "agent\n" });
    const before = git(cwd, "rev-parse", "main");
    write(cwd, { "README.md": "mine\n" });
    git(cwd, "add", "README.md");
    expect(await merge(cwd)).toBeInstanceOf(CheckoutInTheWayError);
    expect(git(cwd, "rev-parse", "main")).toBe(before);
    expect(git(cwd, "status", "--porcelain")).toBe("M  README.md");
    expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("mine\n");
  });

  it("made a file where the agent has committed one does not overwrite it", async () => {
    const cwd = repositoryWithWork();
    write(cwd, { "agent.txt": "precious\n" });
    expect(await merge(cwd)).toBeInstanceOf(CheckoutInTheWayError);
    expect(readFileSync(join(cwd, "agent.txt"), "utf8")).toBe("precious\n");
  });
});

describe("while the agent works, the user", () => {
  const during = async (
    sandbox: SandboxName,
    strategy: keyof typeof STRATEGIES,
    cwd: string,
    action: () => void,
    steps: ScriptedStep[] = [WORK],
  ) => {
    const { sandboxes, wait, meet } = meetingPoint();
    const running = play(cwd, [wait, ...steps], {
      branchStrategy: STRATEGIES[strategy],
      sandbox: sandboxes[sandbox](),
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
      "isolated",
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
      "isolated",
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

  it("edits the very file that the agent commits: the checkout is not touched, the commits are kept", async () => {
    const cwd = temporaryRepository();
    const before = git(cwd, "rev-parse", "main");
    const steps: ScriptedStep[] = [{ commit: "Agent's", files: { "README.md": "agent\n" } }];
    const edit = () => write(cwd, { "README.md": "mine\n" });
    const { error } = await during("isolated", "merge-to-head", cwd, edit, steps);
    expect(error).toBeInstanceOf(CheckoutInTheWayError);
    expect(git(cwd, "rev-parse", "main")).toBe(before);
    expect(git(cwd, "status", "--porcelain")).toBe(" M README.md");
    expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("mine\n");
    const { sourceBranch } = error as CheckoutInTheWayError;
    expect(git(cwd, "show", `${sourceBranch}:README.md`)).toBe("agent");
    expect(error?.branch).toBe(sourceBranch);
    expect(error?.commits).toHaveLength(1);
  });

  it("deletes the branch that the agent works on: the commits are kept", async () => {
    const cwd = temporaryRepository();
    const { error } = await during("isolated", "branch", cwd, () =>
      git(cwd, "update-ref", "-d", "refs/heads/agent/work"),
    );
    expect(error).toBeInstanceOf(BranchMovedError);
    expect(git(cwd, "show", `${(error as BranchMovedError).keptRef}:agent.txt`)).toBe("agent");
  });

  describeWith(["bubblewrap"], "in the checkout of a head run", () => {
    it("commits to its branch: the agent's commits are kept beside it", async () => {
      const cwd = temporaryRepository();
      const { error } = await during("bubblewrap", "head", cwd, () =>
        git(cwd, "commit", "--quiet", "--allow-empty", "-m", "User's"),
      );
      expect(error).toBeInstanceOf(BranchMovedError);
      expect(git(cwd, "log", "-1", "--format=%s", "main")).toBe("User's");
      expect(git(cwd, "show", `${(error as BranchMovedError).keptRef}:agent.txt`)).toBe("agent");
      expect(readFileSync(join(cwd, "agent.txt"), "utf8")).toBe("agent\n");
    });

    it("switches to another branch: neither branch nor index is mixed up", async () => {
      const cwd = temporaryRepository();
      git(cwd, "branch", "other");
      const { result, error } = await during("bubblewrap", "head", cwd, () =>
        git(cwd, "checkout", "--quiet", "other"),
      );
      expect(git(cwd, "rev-parse", "other")).toBe(git(cwd, "rev-list", "--max-parents=0", "main"));
      // The agent's file is there, but for the branch that is checked out now it is not committed and not staged.
      expect(git(cwd, "diff", "--cached", "--name-only")).toBe("");
      const sha = (result ?? error)?.commits?.[0]?.sha ?? (error as BranchMovedError | undefined)?.keptRef;
      expect(git(cwd, "show", `${sha}:agent.txt`)).toBe("agent");
    });

    it("has staged and edited files before: they are theirs after it", async () => {
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
  });
});

it("a failed merge-to-head run says on which branch its commits really are", async () => {
  const cwd = temporaryRepository();
  const error = await failureOf(
    play(cwd, [WORK, { exit: 3 }], {
      branchStrategy: STRATEGIES["merge-to-head"],
      sandbox: SANDBOXES.isolated(),
    }),
  );
  expect(error.commits).toHaveLength(1);
  const sha = error.commits?.[0]?.sha ?? "";
  expect(
    git(cwd, "for-each-ref", "--format=%(refname:short)", "--contains", sha, "refs/heads").split("\n"),
  ).toContain(error.branch);
});

const ODD_NAMES = [
  "-dash",
  "with space",
  "üñïcødé-🏜",
  "comma,in,it",
  "colon:in:it",
  "quote'and\"",
  "$(touch x)",
  "back\\slash",
  "percent%20",
];

type Play = (cwd: string, steps?: ScriptedStep[]) => Promise<RunResult>;

const playIn =
  (sandbox: SandboxName, strategy: keyof typeof STRATEGIES): Play =>
  (cwd, steps = [WORK]) =>
    play(cwd, steps, { sandbox: SANDBOXES[sandbox](), branchStrategy: STRATEGIES[strategy] });

/** What HEAD is. */
const describeHeads = (playHere: Play): void => {
  it("a detached HEAD works", async () => {
    const cwd = temporaryRepository();
    git(cwd, "checkout", "--quiet", "--detach");
    const main = git(cwd, "rev-parse", "main");
    const result = await playHere(cwd);
    expectLanded(cwd, result);
    expect(result.branch).toBe("HEAD");
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

  it("a worktree of a bare repository works", async () => {
    const origin = temporaryRepository();
    const directory = temporaryDirectory();
    git(origin, "clone", "--quiet", "--bare", origin, join(directory, "bare.git"));
    const cwd = join(directory, "checkout");
    git(join(directory, "bare.git"), "worktree", "add", "--quiet", cwd, "main");
    expectLanded(cwd, await playHere(cwd));
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });
};

/** Where the files are, or are not. */
const describeFiles = (playHere: Play): void => {
  it("a sub-directory as cwd is where the agent starts", async () => {
    const top = temporaryRepository();
    const cwd = join(top, "packages/app");
    mkdirSync(cwd, { recursive: true });
    commitFiles(top, "App", { "packages/app/app.txt": "app\n" });
    const result = await playHere(cwd, [shell("ls > listing.txt"), { commit: "Listing" }]);
    expect(git(top, "show", `${result.branch}:packages/app/listing.txt`).split("\n")).toContain("app.txt");
  });

  it("a sparse checkout stays sparse", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "in"));
    mkdirSync(join(cwd, "out"));
    commitFiles(cwd, "Directories", { "in/a.txt": "a\n", "out/b.txt": "b\n" });
    git(cwd, "sparse-checkout", "set", "in");
    const result = await playHere(cwd);
    expectLanded(cwd, result);
    expect(existsSync(join(cwd, "out/b.txt"))).toBe(false);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(git(cwd, "ls-tree", "-r", "--name-only", result.branch).split("\n")).toContain("out/b.txt");
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

  it("a path of odd names works", async () => {
    const cwd = join(temporaryDirectory(), ...ODD_NAMES);
    mkdirSync(dirname(cwd), { recursive: true });
    renameSync(temporaryRepository(), cwd);
    expectLanded(cwd, await playHere(cwd));
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });
};

/** Where the objects are, or are not. */
const describeObjects = (playHere: Play): void => {
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
};

describe("on an isolated sandbox with merge-to-head", () => {
  const playHere = playIn("isolated", "merge-to-head");
  describeHeads(playHere);
  describeFiles(playHere);
  describeObjects(playHere);
});

describeWith(["bubblewrap"], "on bubblewrap with head", () => {
  describeHeads(playIn("bubblewrap", "head"));
});

describeWith(["bubblewrap"], "on bubblewrap with a branch", () => {
  describeFiles(playIn("bubblewrap", "branch"));
  describeObjects(playIn("bubblewrap", "branch"));
});

describe("a run is refused before any effect in", () => {
  const refused = async (cwd: string) => {
    const error = await failureOf(play(cwd, [WORK], { sandbox: SANDBOXES.isolated() }));
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

  it("a directory with a newline in its path", async () => {
    const cwd = join(temporaryDirectory(), "new\nline");
    renameSync(temporaryRepository(), cwd);
    expect(await refused(cwd)).toBeInstanceOf(UnsupportedRepositoryError);
  });

  it("the git directory itself", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(play(join(cwd, ".git"), [WORK], { sandbox: SANDBOXES.isolated() }));
    expect(error).toBeInstanceOf(UnsupportedRepositoryError);
  });
});

it("a branch that is checked out elsewhere is refused, and that checkout is named", async () => {
  const cwd = temporaryRepository();
  const elsewhere = join(temporaryDirectory(), "elsewhere");
  git(cwd, "worktree", "add", "--quiet", "-b", "agent/work", elsewhere);
  const before = userRefs(cwd);
  const error = await failureOf(
    play(cwd, [WORK], { branchStrategy: STRATEGIES.branch, sandbox: SANDBOXES.isolated() }),
  );
  expect(error).toBeInstanceOf(BranchInUseError);
  expect(error.message).toContain(elsewhere);
  expect(userRefs(cwd)).toBe(before);
});

it("a repository that was moved finds its kept worktree again, which survives `git worktree prune` and `gc` of the user's", async () => {
  const former = temporaryRepository();
  const options = { sandbox: SANDBOXES.isolated(), branchStrategy: STRATEGIES.branch };
  await play(former, [WORK, shell("echo open > open.txt")], options);
  const cwd = join(temporaryDirectory(), "moved");
  renameSync(former, cwd);
  mkdirSync(former);
  git(cwd, "worktree", "prune", "--expire=now");
  git(cwd, "gc", "--quiet", "--prune=now");
  const result = await play(cwd, [shell("git add --all"), { commit: "Rest" }], options);
  expect(git(cwd, "show", "agent/work:open.txt")).toBe("open");
  expect(result.commits).toHaveLength(1);
  expect(worktreesOf(cwd)).toEqual([cwd]);
});
