import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  BranchInUseError,
  NotARepositoryError,
  type RunResult,
  type ScriptedStep,
  UnsupportedRepositoryError,
} from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  failureOf,
  locksOf,
  play,
  runRefs,
  SANDBOXES,
  type SandboxName,
  STRATEGIES,
  shell,
  userRefs,
  worktreesOf,
} from "../support.ts";
import { commitFiles, WORK } from "./repositoryWork.ts";

/** The run landed one commit where it says, and left nothing else. */
const expectLanded = (cwd: string, result: RunResult): void => {
  expect(result.commits).toHaveLength(1);
  expect(git(cwd, "show", `${result.branch}:agent.txt`)).toBe("agent");
  expect(git(cwd, "rev-list", result.branch).split("\n")).toContain(result.commits[0]?.sha);
  expect(result.preservedWorktreePath).toBeUndefined();
  expect(runRefs(cwd)).toBe("");
  expect(locksOf(cwd)).toEqual([]);
};

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
  it("a detached HEAD works, and a warning says how to keep the commits", async () => {
    const cwd = temporaryRepository();
    git(cwd, "checkout", "--quiet", "--detach");
    const main = git(cwd, "rev-parse", "main");
    const result = await playHere(cwd);
    expectLanded(cwd, result);
    expect(result.branch).toBe("HEAD");
    const name = `work-${result.runId}`;
    const command = `git branch ${name} ${result.commits.at(-1)?.sha}`;
    expect(result.warnings).toEqual([
      expect.stringContaining(`the commits are on no branch. To keep them: ${command}`),
    ]);
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

const makeSparse = (cwd: string): void => {
  mkdirSync(join(cwd, "in"));
  mkdirSync(join(cwd, "out"));
  commitFiles(cwd, "Directories", { "in/a.txt": "a\n", "out/b.txt": "b\n" });
  git(cwd, "sparse-checkout", "set", "in");
};

const addSubmodule = (cwd: string): void => {
  const library = temporaryRepository();
  git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "library");
  git(cwd, "commit", "--quiet", "-m", "Submodule");
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
    makeSparse(cwd);
    const result = await playHere(cwd);
    expectLanded(cwd, result);
    expect(existsSync(join(cwd, "out/b.txt"))).toBe(false);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(git(cwd, "ls-tree", "-r", "--name-only", result.branch).split("\n")).toContain("out/b.txt");
  });

  it("a repository with a submodule works, and the submodule stays as it was", async () => {
    const cwd = temporaryRepository();
    addSubmodule(cwd);
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
  const playHere = playIn("bubblewrap", "head");
  describeHeads(playHere);

  it("a sparse checkout with a submodule, at a path of odd names, works and stays as it was", async () => {
    const cwd = join(temporaryDirectory(), ...ODD_NAMES);
    mkdirSync(dirname(cwd), { recursive: true });
    renameSync(temporaryRepository(), cwd);
    addSubmodule(cwd);
    makeSparse(cwd);
    const library = git(cwd, "rev-parse", "main:library");
    expectLanded(cwd, await playHere(cwd));
    expect(existsSync(join(cwd, "out/b.txt"))).toBe(false);
    expect(git(cwd, "ls-tree", "-r", "--name-only", "main").split("\n")).toContain("out/b.txt");
    expect(git(cwd, "rev-parse", "main:library")).toBe(library);
    expect(git(join(cwd, "library"), "rev-parse", "HEAD")).toBe(library);
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });
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

it("a repository that was moved finds its kept worktree again, which survives `git worktree prune` and `gc` of the user", async () => {
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
