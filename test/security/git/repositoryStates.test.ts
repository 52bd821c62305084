import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { InternalError, type RunResult, SandduneError, type ScriptedStep } from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  failureOf,
  play,
  SANDBOXES,
  type SandboxName,
  STRATEGIES,
  type StrategyName,
  shell,
  userRefs,
} from "../support.ts";

const WORK: ScriptedStep = { commit: "Agent's work", files: { "agent.txt": "agent\n" } };

const describeStates = (sandbox: SandboxName, strategy: StrategyName): void => {
  const playHere = (cwd: string, steps: ScriptedStep[] = [WORK], more = {}) =>
    play(cwd, steps, { sandbox: SANDBOXES[sandbox](), branchStrategy: STRATEGIES[strategy], ...more });
  const expectLanded = (cwd: string, { commits, branch }: RunResult) => {
    expect(commits).toHaveLength(1);
    expect(git(cwd, "show", `${branch}:agent.txt`)).toBe("agent");
    expect(git(cwd, "status", "--porcelain")).toBe("");
  };

  it("a submodule as cwd works", async () => {
    const library = temporaryRepository();
    const parent = temporaryRepository();
    git(parent, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "library");
    git(parent, "commit", "--quiet", "-m", "Submodule");
    const cwd = join(parent, "library");
    expectLanded(cwd, await playHere(cwd));
  });

  it("a symbolic link to the repository as cwd works", async () => {
    const repository = temporaryRepository();
    const cwd = join(temporaryDirectory(), "link");
    symlinkSync(repository, cwd);
    expectLanded(repository, await playHere(cwd));
  });

  it("a split index works", async () => {
    const cwd = temporaryRepository();
    git(cwd, "config", "core.splitIndex", "true");
    git(cwd, "update-index", "--split-index");
    expectLanded(cwd, await playHere(cwd));
    expect(git(cwd, "ls-files").split("\n")).toContain("README.md");
  });

  it("tags, stashes, notes, replaced objects and tags of trees in the host repository do not disturb", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "README.md"), "stashed\n");
    git(cwd, "stash", "--quiet");
    git(cwd, "notes", "add", "-m", "note");
    git(cwd, "tag", "tree", "HEAD^{tree}");
    git(cwd, "tag", "-a", "blob", "-m", "blob", "HEAD:README.md");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Second");
    git(cwd, "replace", "HEAD", git(cwd, "commit-tree", "-p", "HEAD^", "-m", "Replaced", "HEAD^{tree}"));
    const before = userRefs(cwd)
      .split("\n")
      .filter((line) => line.startsWith("refs/tags"));
    expectLanded(cwd, await playHere(cwd));
    expect(userRefs(cwd).split("\n")).toEqual(expect.arrayContaining(before));
    expect(git(cwd, "stash", "list")).toContain("stash@{0}");
  });

  it("objects that the agent replaces do not confuse the import", async () => {
    const cwd = temporaryRepository();
    const replace = shell("git replace HEAD $(git commit-tree -p HEAD~1 -m Replaced HEAD^{tree})");
    expectLanded(cwd, await playHere(cwd, [WORK, replace]));
    expect(git(cwd, "log", "-1", "--format=%s", strategy === "branch" ? "agent/work" : "main")).toBe(
      "Agent's work",
    );
  });

  it("a history with merges arrives as it is", async () => {
    const cwd = temporaryRepository();
    const result = await playHere(cwd, [
      shell(
        "git checkout -q -b side; echo s > s.txt; git add .; git commit -q -m Side; git checkout -q -; echo m > m.txt; git add .; git commit -q -m Main; git merge -q --no-edit side",
      ),
    ]);
    expect(result.commits).toHaveLength(3);
    expect(git(cwd, "rev-list", "--merges", "--count", result.branch)).toBe("1");
  });

  it("branches of the agent that exclude each other by name, one per iteration, cost nothing", async () => {
    const cwd = temporaryRepository();
    const result = await play(
      cwd,
      ({ iteration }) => [
        { commit: `Work ${iteration}`, files: { [`${iteration}.txt`]: "x\n" } },
        shell(
          iteration === 1
            ? "git branch feature $(git commit-tree -p HEAD -m One HEAD^{tree})"
            : "git branch -D feature; git branch feature/a $(git commit-tree -p HEAD -m Two HEAD^{tree})",
        ),
      ],
      { sandbox: SANDBOXES[sandbox](), branchStrategy: STRATEGIES[strategy], maxIterations: 2 },
    );
    expect(result.commits).toHaveLength(2);
    expect(git(cwd, "show", `${result.branch}:2.txt`)).toBe("x");
  });

  it("a branch of the agent that is too long for the host costs nothing else", async () => {
    const cwd = temporaryRepository();
    const long = shell(
      'name=$(printf "%0200d/" 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)$(printf "%030d" 0); git update-ref "refs/heads/$name" "$(git commit-tree -p HEAD -m Long HEAD^{tree})"',
    );
    const result = await playHere(cwd, [WORK, long]);
    expect(result.commits).toHaveLength(1);
    // The directory of an isolated test sandbox is too long a path for it to be made at all.
    expect(result.warnings).toHaveLength(sandbox === "bubblewrap" ? 1 : 0);
    expect(git(cwd, "show", `${result.branch}:agent.txt`)).toBe("agent");
  });

  it("what the agent has stashed is kept, or the result says that it was left behind", async () => {
    const cwd = temporaryRepository();
    const result = await playHere(cwd, [WORK, shell("echo stashed > README.md; git stash -q")]);
    const refs = git(cwd, "for-each-ref", "--format=%(refname)", "refs/sanddune");
    expect(`${refs}\n${result.warnings.join("\n")}`).toMatch(/stash/i);
  });
};

describe("on an isolated sandbox with merge-to-head", () => describeStates("isolated", "merge-to-head"));
describeWith(["bubblewrap"], "on bubblewrap with head", () => describeStates("bubblewrap", "head"));

describeWith(["bubblewrap"], "on bubblewrap with a branch", () => {
  it("uncommitted files whose list is longer than a mebibyte are kept, every one", async () => {
    const cwd = temporaryRepository();
    const many = shell(
      `mkdir many; cd many; seq -f '${"n".repeat(230)}%05g' 4600 | xargs touch; git add -N . 2>/dev/null; true`,
    );
    const result = await play(cwd, [WORK, many], { branchStrategy: STRATEGIES.branch });
    expect(readdirSync(join(result.preservedWorktreePath as string, "many"))).toHaveLength(4600);
    expect(result.commits).toHaveLength(1);
  });
});

describeWith(["bubblewrap"], "a head run", () => {
  it.each([
    [
      "a merge with conflicts",
      "git checkout -q -b side; echo 1 > README.md; git commit -q -am 1; git checkout -q main; echo 2 > README.md; git commit -q -am 2; git merge -q side || true",
    ],
    [
      "a rebase that stopped",
      "git checkout -q -b side; echo 1 > README.md; git commit -q -am 1; git checkout -q main; echo 2 > README.md; git commit -q -am 2; git checkout -q side; git rebase -q main || true",
    ],
  ])("in the middle of %s is refused before any effect", async (_, prepare) => {
    const cwd = temporaryRepository();
    execFileSync("sh", ["-c", prepare], { cwd, stdio: "ignore" });
    const before = { refs: userRefs(cwd), status: git(cwd, "status", "--porcelain") };
    const error = await failureOf(play(cwd, [WORK]));
    expect(error).toBeInstanceOf(SandduneError);
    expect(error).not.toBeInstanceOf(InternalError);
    expect({ refs: userRefs(cwd), status: git(cwd, "status", "--porcelain") }).toEqual(before);
  });

  it("leaves an index alone that another git process has locked, and says so", async () => {
    const cwd = temporaryRepository();
    const lock = join(cwd, ".git/index.lock");
    writeFileSync(lock, "");
    const result = await play(cwd, [WORK]);
    expect(result.commits).toHaveLength(1);
    expect(readFileSync(lock, "utf8")).toBe("");
    expect(result.warnings.join("\n")).toMatch(/index/);
  });
});

describeWith(["root"], "a repository of another user's", () => {
  it("is refused in git's own words", async () => {
    const cwd = temporaryRepository();
    execFileSync("chown", ["-R", "12345", cwd]);
    const error = await failureOf(play(cwd, [WORK], { sandbox: SANDBOXES.isolated() }));
    expect(error).not.toBeInstanceOf(InternalError);
    expect(error.message).toContain("dubious ownership");
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });
});
