import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { settleBeforeWork } from "../../../src/git/merge/earlierMerge.ts";
import { findNotes, writeNote } from "../../../src/git/merge/mergeNote.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { BranchInUseError, MergeInterruptedError } from "../../../src/index.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { commitFiles, statusOf } from "../commitFiles.ts";

/** A checkout of `main` in which a merge of `work`, which adds two files, was interrupted. */
const scene = async () => {
  const cwd = temporaryRepository();
  const from = git(cwd, "rev-parse", "HEAD");
  git(cwd, "switch", "--quiet", "--create", "work");
  const to = commitFiles(cwd, { "a.txt": "a\n", "b.txt": "b\n" });
  git(cwd, "switch", "--quiet", "main");
  const repository = await runAtBoundary(openRepository(cwd));
  writeNote(repository, {
    ...{ runId: "earlier", sourceBranch: "work", targetBranch: "main" },
    ...{ checkoutPath: cwd, from, to, absent: [] },
  });
  return {
    cwd,
    from,
    to,
    notes: () => findNotes(repository),
    settle: () => runAtBoundary(settleBeforeWork(repository, { runId: "now", branch: "main" })),
  };
};

describe("before a run works in a checkout, a merge that an earlier run has left there", () => {
  it("is forgotten if git had not begun", async () => {
    const { cwd, settle, notes } = await scene();
    expect(await settle()).toBeUndefined();
    expect([notes(), statusOf(cwd)]).toEqual([[], ""]);
  });

  it("is undone if files were written, and the sentence says how to merge", async () => {
    const { cwd, settle, notes } = await scene();
    writeFileSync(join(cwd, "a.txt"), "a\n");
    expect(await settle()).toContain("To merge it: git merge work");
    expect([notes(), existsSync(join(cwd, "a.txt"))]).toEqual([[], false]);
  });

  it("is completed if only the branch had to be moved; then the run has to be planned again", async () => {
    const { cwd, to, settle, notes } = await scene();
    git(cwd, "read-tree", "-m", "-u", "HEAD", to);
    await expect(settle()).rejects.toBeInstanceOf(BranchInUseError);
    expect([git(cwd, "rev-parse", "main"), notes(), statusOf(cwd)]).toEqual([to, [], ""]);
  });

  it("is left alone, and the run refused, if one of its files has changed since", async () => {
    const { cwd, from, settle, notes } = await scene();
    writeFileSync(join(cwd, "a.txt"), "a\n");
    writeFileSync(join(cwd, "b.txt"), "user\n");
    const error = await settle().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MergeInterruptedError);
    expect((error as MergeInterruptedError).paths).toEqual(["b.txt"]);
    expect(["a.txt", "b.txt"].map((name) => readFileSync(join(cwd, name), "utf8"))).toEqual([
      "a\n",
      "user\n",
    ]);
    expect([git(cwd, "rev-parse", "main"), notes().length]).toEqual([from, 1]);
  });
});
