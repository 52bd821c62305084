import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { readHostState } from "../../../src/git/hostState.ts";
import { mergeToHead } from "../../../src/git/merge/mergeToHead.ts";
import { openRepository } from "../../../src/git/repository.ts";
import {
  BranchMovedError,
  CheckoutInTheWayError,
  MergeConflictError,
  type SandduneError,
  type ScriptedStep,
} from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, meetingPoint, play, SANDBOXES, type SandboxName, STRATEGIES, shell } from "../support.ts";
import { commitFiles, WORK, write } from "./repositoryWork.ts";

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
    onWarning: () => {},
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

  it("commits to the target branch: both commits exist, the checkout is clean", async () => {
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
