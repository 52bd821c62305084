import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createWorktree, InvalidBranchNameError } from "../../../src/index.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeInBoth, failureOf, play, SANDBOXES, shell, userRefs, worktreesOf } from "../support.ts";

const WORK = { commit: "Work", files: { "work.txt": "work\n" } } as const;

/** Git takes these; so they must be used exactly as they are. */
const STRANGE = [
  "$(touch$IFS$()canary)",
  "`touch\u00a0canary`",
  "a;touch-canary",
  "a|b",
  "a&b",
  "a>canary",
  "a'b",
  'a"b',
  "a%b",
  "a#b",
  "a!b",
  "{a,b}",
  "ünïcödé/🏜",
  "a/-b",
  "Case",
  "a".repeat(240),
  `${"deep/".repeat(20)}x`,
  "FETCH_HEAD",
  "ORIG_HEAD",
  "stash",
  "a.b",
  "@x",
];

/** Of all that `test/options/branchStrategy.test.ts` has. */
const IMPOSSIBLE = ["--upload-pack=touch canary", "a\nb", "a\u001b]0;x\u0007", "a".repeat(300)];

/** All that shells and git might read something into. */
const STRANGEST = "$(touch$IFS$()canary)/a;b|c&d>canary/`id`/a'b\"/a%b#c!d/{a,b}/ünïcödé-🏜/-x/@x/Case";

/** The branch is there by exactly this name, and nothing else was made. */
const expectOnlyBranch = (cwd: string, branch: string): void => {
  expect(git(cwd, "for-each-ref", "--format=%(refname)", "refs/heads").split("\n").sort()).toEqual(
    ["refs/heads/main", `refs/heads/${branch}`].sort(),
  );
  expect(readdirSync(cwd).sort()).toEqual([".git", ".sanddune", "README.md"]);
  expect(worktreesOf(cwd)).toEqual([cwd]);
};

describeInBoth("a run on a branch with the strangest name", (name) => {
  it("uses it exactly", async () => {
    const cwd = temporaryRepository();
    const result = await play(cwd, [WORK], {
      branchStrategy: { type: "branch", branch: STRANGEST },
      sandbox: SANDBOXES[name](),
    });
    expect(result.branch).toBe(STRANGEST);
    expectOnlyBranch(cwd, STRANGEST);
    expect(git(cwd, "rev-parse", `refs/heads/${STRANGEST}`)).toBe(result.commits[0]?.sha);
  });
});

describe("a branch that the caller names", () => {
  const sandbox = SANDBOXES.isolated();

  it.each(STRANGE)("%j is used exactly", async (branch) => {
    const cwd = temporaryRepository();
    const worktree = await createWorktree({ cwd, branchStrategy: { type: "branch", branch } });
    git(worktree.worktreePath, "commit", "--quiet", "--allow-empty", "-m", "Work");
    await worktree.close();
    expectOnlyBranch(cwd, branch);
    expect(git(cwd, "log", "-1", "--format=%s", `refs/heads/${branch}`)).toBe("Work");
  });

  it.each(IMPOSSIBLE)("%j is refused before any effect", async (branch) => {
    const cwd = temporaryRepository();
    const before = userRefs(cwd);
    const error = await failureOf(play(cwd, [WORK], { sandbox, branchStrategy: { type: "branch", branch } }));
    expect(error).toBeInstanceOf(InvalidBranchNameError);
    expect(error.branch).toBe(branch);
    expect(userRefs(cwd)).toBe(before);
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });

  it.each(["$(touch canary)", "-x", "--upload-pack=x", "nowhere", "HEAD:README.md", "main^{tree}"])(
    "cannot start from %j: refused, and no branch or worktree is made",
    async (from) => {
      const cwd = temporaryRepository();
      const before = userRefs(cwd);
      await failureOf(play(cwd, [WORK], { sandbox, branchStrategy: { type: "branch", branch: "x", from } }));
      expect(userRefs(cwd)).toBe(before);
      expect(worktreesOf(cwd)).toEqual([cwd]);
      expect(existsSync(join(cwd, "canary"))).toBe(false);
    },
  );

  it("that is also the name of a tag is the branch", async () => {
    const cwd = temporaryRepository();
    git(cwd, "tag", "twice");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Newer");
    git(cwd, "branch", "twice");
    const result = await play(cwd, [WORK], { sandbox, branchStrategy: { type: "branch", branch: "twice" } });
    expect(git(cwd, "log", "--format=%s", "refs/heads/twice").split("\n")).toEqual([
      "Work",
      "Newer",
      "Initial commit",
    ]);
    expect(git(cwd, "rev-parse", "refs/tags/twice")).not.toBe(result.commits[0]?.sha);
  });

  it("that conflicts with another branch is refused by name", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(
      play(cwd, [WORK], { sandbox, branchStrategy: { type: "branch", branch: "main/x" } }),
    );
    expect(error).toBeInstanceOf(InvalidBranchNameError);
    expect(worktreesOf(cwd)).toEqual([cwd]);
  });
});

describeInBoth("a branch that the agent makes", (name) => {
  it("is inert whatever its name, and its commits are kept under the run's own refs", async () => {
    const cwd = temporaryRepository();
    const names = [...STRANGE, "-x", "--upload-pack=x", "HEAD", "refs/heads/main", "b".repeat(250)].filter(
      (branch) => branch !== "Case",
    );
    const make = names.map(
      (branch, index) =>
        `git update-ref 'refs/heads/${branch.replaceAll("'", "'\\''")}' "$(git commit-tree -p HEAD -m ${index} HEAD^{tree})" 2>/dev/null`,
    );
    const before = userRefs(cwd);
    const result = await play(cwd, [WORK, shell(...make)], {
      branchStrategy: { type: "branch", branch: "agent/work" },
      sandbox: SANDBOXES[name](),
    });
    expect(result.commits).toHaveLength(1);
    expect(userRefs(cwd).replace(/^refs\/heads\/agent\/work .*\n/m, "")).toBe(before);
    expect(readdirSync(cwd).sort()).toEqual([".git", ".sanddune", "README.md"]);
    const kept = git(cwd, "for-each-ref", "--format=%(refname)", "refs/sanddune").split("\n");
    const said = result.warnings.flatMap((warning) => / kept as (\S+)\./.exec(warning)?.[1] ?? []);
    expect(said.length).toBeGreaterThanOrEqual(20);
    expect(kept).toEqual(expect.arrayContaining(said));
    expect(result.warnings.filter((warning) => warning.includes("$(touch$IFS$()canary)"))).toHaveLength(1);
  });

  it("does not drown the result, however many there are", async () => {
    const cwd = temporaryRepository();
    // So long that all of them are more than the 120 KiB that a command may have.
    const longName = "a-rather-long-name-for-a-branch/".padEnd(240, "x");
    const many = shell(
      `c=$(git commit-tree -p HEAD -m x HEAD^{tree}); i=0; while [ $i -lt 600 ]; do echo "create refs/heads/${longName}/$i $c"; i=$((i+1)); done | git update-ref --stdin`,
      "git pack-refs --all",
    );
    const result = await play(cwd, [WORK, many], {
      branchStrategy: { type: "branch", branch: "agent/work" },
      sandbox: SANDBOXES[name](),
    });
    expect(result.commits).toHaveLength(1);
    expect(git(cwd, "show", "agent/work:work.txt")).toBe("work");
    expect(result.warnings.length).toBeLessThan(200);
  });
});
