import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, type TestContext } from "vitest";
import type { MergeInterruptedError } from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, play, SANDBOXES, STRATEGIES } from "../../security/support.ts";
import { prepareForMerge } from "./mergeGate.ts";

const MERGE = { branchStrategy: STRATEGIES["merge-to-head"], sandbox: SANDBOXES.isolated() } as const;

/** The agent's files are small in git, and too large for the checkout's disk. The first ones still fit. */
const TOO_LARGE = {
  shell: `echo changed >> 0-changed.txt; git rm -q 0-deleted.txt
echo first > 0-new.txt; mkdir -p deep/er; echo second > deep/er/new.txt
yes | head -c 16000000 > x-large.bin; echo last > z-new.txt
git add .; git commit -q -m "Too large"`,
};

/** The user's checkout is on a disk of its own; the repository is elsewhere. */
const checkoutOnSmallDisk = (context: TestContext): string => {
  const repository = temporaryRepository();
  prepareForMerge(repository);
  git(repository, "switch", "--quiet", "--create", "elsewhere");
  const disk = temporaryDirectory();
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "none", disk]);
  if (status !== 0) context.skip("this machine does not let root mount a tmpfs");
  onTestFinished(() => void execFileSync("umount", ["--lazy", disk]));
  const checkout = join(disk, "checkout");
  git(repository, "worktree", "add", "--quiet", checkout, "main");
  return checkout;
};

describeWith(["root"], "a merge into a checkout whose disk", () => {
  it("is too small restores the checkout and says so; the suggested merge works once there is space", async (context) => {
    const cwd = checkoutOnSmallDisk(context);
    writeFileSync(join(cwd, "mine.txt"), "the user's\n");
    const error = (await failureOf(play(cwd, [TOO_LARGE], MERGE))) as MergeInterruptedError;
    expect(error).toMatchObject({
      name: "MergeInterruptedError",
      errorCode: "ENOSPC",
      isHalfMerged: false,
      paths: [],
      checkoutPath: cwd,
      targetBranch: "main",
      commits: [{}],
    });
    expect(error.message).toContain(`${cwd} is as it was before the merge`);
    expect(error.message).toContain("Free some disk space");
    expect(git(cwd, "status", "--porcelain")).toBe("?? mine.txt");
    expect(readFileSync(join(cwd, "0-changed.txt"), "utf8")).toBe("original\n");
    expect(existsSync(join(cwd, "deep"))).toBe(false);

    execFileSync("mount", ["-o", "remount,size=64m", join(cwd, "..")]);
    git(cwd, "merge", "--quiet", error.sourceBranch);
    expect(git(cwd, "log", "-1", "--format=%s")).toBe("Too large");
    expect(git(cwd, "status", "--porcelain")).toBe("?? mine.txt");
  });

  it("became read-only does not touch the checkout, and says why", async (context) => {
    const cwd = checkoutOnSmallDisk(context);
    const disk = join(cwd, "..");
    const remount = (how: string) => execFileSync("mount", ["-o", `remount,${how}`, disk]);
    remount("ro");
    const error = await failureOf(play(cwd, [{ commit: "Work", files: { "a.txt": "a\n" } }], MERGE));
    expect(error).toMatchObject({ name: "MergeInterruptedError", errorCode: "EROFS", isHalfMerged: false });
    expect(error.message).not.toContain("changes that are not committed");
    remount("rw");
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });
});
