import { join } from "node:path";
import { expect, it } from "vitest";
import { subjectsOf } from "../cli/fixtures.ts";
import { clean, cleanInWords, commits, deadRun } from "../cli/hangingRuns.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { play, runRefs, STRATEGIES, shell } from "../security/support.ts";

describeWith(["bubblewrap"], "temporary branches of merge-to-head:", () => {
  const finishes = `[ -e first.txt ] || { ${commits("first")}; exit 0; }`;
  const flags = ["--merge-to-head", "--max-iterations", "2"];

  it("one with commits that are nowhere else stays, until it is named itself", async () => {
    const { cwd, runId } = await deadRun({ script: finishes, flags });
    const branch = `sanddune/${runId}`;
    expect(await cleanInWords(cwd)).toContain("1 commit on no other branch");
    expect(subjectsOf(cwd, branch)[0]).toBe("first");
    await clean(cwd, "--yes", "--run", runId);
    expect(subjectsOf(cwd, branch)[0]).toBe("first");
    expect(await cleanInWords(cwd)).toContain(`sanddune clean --branch ${branch}`);
    await clean(cwd, "--yes", "--branch", branch);
    expect(leftovers(cwd)).toEqual([]);
    expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
  });

  it("one that is merged goes", async () => {
    const { cwd, runId } = await deadRun({ script: finishes, flags });
    git(cwd, "merge", "--quiet", `sanddune/${runId}`);
    await clean(cwd, "--yes");
    expect(leftovers(cwd)).toEqual([]);
    expect(subjectsOf(cwd, "main")[0]).toBe("first");
  });

  it("one that is checked out elsewhere stays, even if the run is named", async () => {
    const { cwd, runId } = await deadRun({ script: finishes, flags });
    await clean(cwd, "--yes");
    const elsewhere = join(temporaryDirectory(), "checkout");
    git(cwd, "worktree", "add", "--quiet", elsewhere, `sanddune/${runId}`);
    expect(await cleanInWords(cwd, "--run", runId)).toContain(`it is checked out at ${elsewhere}`);
    expect(git(elsewhere, "log", "-1", "--format=%s")).toBe("first");
  });
});

describeWith(["bubblewrap"], "refs with what could not go on the branch of a run", () => {
  it("stay as long as no branch has their commits, and go when one has them", async () => {
    const cwd = temporaryRepository();
    const stray = shell(
      "git switch --quiet --create other",
      "git commit --quiet --allow-empty -m stray",
      "git switch --quiet agent/work",
    );
    await play(cwd, [stray], { branchStrategy: STRATEGIES.branch });
    const ref = runRefs(cwd);
    expect(subjectsOf(cwd, ref)[0]).toBe("stray");
    expect(await cleanInWords(cwd)).toContain("no branch has these commits");
    expect(runRefs(cwd)).toBe(ref);
    git(cwd, "branch", "rescued", ref);
    await clean(cwd, "--yes");
    expect(runRefs(cwd)).toBe("");
  });
});
