import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { BranchInUseError } from "../../../src/index.ts";
import { bundle } from "../../helpers/bundle.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  failureOf,
  locksOf,
  meetingPoint,
  play,
  runRefs,
  SANDBOXES,
  STRATEGIES,
  worktreesOf,
} from "../../security/support.ts";

describeWith(["bubblewrap"], "many runs on one repository", () => {
  it("40 parallel merge-to-head runs all land, each with exactly its own commits, and the checkout is clean", {
    timeout: 240_000,
  }, async () => {
    const cwd = temporaryRepository();
    const numbers = Array.from({ length: 40 }, (_, number) => number);
    const results = await Promise.all(
      numbers.map((number) =>
        play(cwd, [{ commit: `Work ${number}`, files: { [`file-${number}.txt`]: `${number}\n` } }], {
          branchStrategy: STRATEGIES["merge-to-head"],
          idleTimeoutSeconds: 240,
        }),
      ),
    );
    const lines = git(cwd, "log", "--no-merges", "--format=%H %s", "main").split("\n");
    const subjects = new Map(lines.map((line) => [line.slice(0, 40), line.slice(41)]));
    expect(results.map(({ commits }) => commits.map(({ sha }) => subjects.get(sha)))).toEqual(
      numbers.map((number) => [`Work ${number}`]),
    );
    expect(lines).toHaveLength(41);
    expect(git(cwd, "ls-tree", "--name-only", "main").split("\n")).toHaveLength(41);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(worktreesOf(cwd)).toEqual([cwd]);
    expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
    expect(runRefs(cwd)).toBe("");
    expect(locksOf(cwd)).toEqual([]);
    expect(results.flatMap(({ warnings }) => warnings)).toEqual([]);
  });

  it("5 processes with 10 worktrees each, of runs and by hand, all land on one repository", {
    timeout: 300_000,
  }, async () => {
    const cwd = temporaryRepository();
    const program = bundle(join(import.meta.dirname, "parallelRuns.ts"));
    const outputs = await Promise.all(
      ["a", "b", "c", "d", "e"].map((prefix) =>
        promisify(execFile)(process.execPath, [program, cwd, prefix, "3", "7"]),
      ),
    );
    const runs = outputs.flatMap(
      ({ stdout }) => JSON.parse(stdout) as { branch: string; commits?: string[]; problem?: string }[],
    );
    expect(runs.filter(({ problem }) => problem !== undefined)).toEqual([]);
    expect(runs).toHaveLength(50);
    // Each branch is one commit of its own, on top of main.
    const main = git(cwd, "rev-parse", "main");
    const format = "--format=%(refname:short) %(objectname) %(parent) %(subject)";
    expect(git(cwd, "for-each-ref", format, "refs/heads/[a-e]/*").split("\n").sort()).toEqual(
      runs.map(({ branch, commits }) => `${branch} ${commits?.join()} ${main} ${branch}`).sort(),
    );
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(worktreesOf(cwd)).toEqual([cwd]);
    expect(runRefs(cwd)).toBe("");
    expect(locksOf(cwd)).toEqual([]);
  });
});

describe("of two runs at once", () => {
  it("on one branch the second fails at once, names the owner, and leaves the first alone", async () => {
    const cwd = temporaryRepository();
    const { wait, meet } = meetingPoint();
    const options = () => ({ branchStrategy: STRATEGIES.branch, sandbox: SANDBOXES.isolated() });
    const first = play(cwd, [wait, { commit: "First" }], options());
    await meet(async () => {
      const error = await failureOf(play(cwd, [{ commit: "Second" }], options()));
      expect(error).toBeInstanceOf(BranchInUseError);
      expect(error).toMatchObject({
        branch: "agent/work",
        owner: expect.stringContaining(`process ${process.pid}`),
      });
    });
    expect((await first).commits).toHaveLength(1);
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("First");
  });
});

describeWith(["bubblewrap"], "of two runs at once", () => {
  it("in one checkout the second fails, and leaves the first alone", async () => {
    const cwd = temporaryRepository();
    const { sandboxes, wait, meet } = meetingPoint();
    const first = play(cwd, [wait, { commit: "First" }], { sandbox: sandboxes.bubblewrap() });
    await meet(async () => {
      expect(await failureOf(play(cwd, [{ commit: "Second" }]))).toBeInstanceOf(BranchInUseError);
    });
    expect((await first).commits).toHaveLength(1);
  });
});
