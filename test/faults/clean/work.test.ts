import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { subjectsOf } from "../../cli/fixtures.ts";
import { clean, cleanInWords } from "../../cli/runs/hangingRuns.ts";
import { commits } from "../../helpers/agents/agentScripts.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { play, runRefs, SANDBOXES, STRATEGIES, shell } from "../../security/support.ts";
import { commitsFirst, type HangingRun, onBranch, useHangingRuns, worktreeFor } from "./deadRuns.ts";

const { deadRuns, startRuns } = useHangingRuns();

describeWith(["bubblewrap"], "clean never loses files:", () => {
  const CHANGES = {
    new: "echo x > new.txt",
    changed: "echo x > README.md",
    staged: "echo x > new.txt; git add new.txt",
    removed: "rm README.md",
  };

  it("a worktree with a new, a changed, a staged or a removed file stays, with the file; so does one that was switched, or that git cannot read", async () => {
    const branches = Object.keys(CHANGES);
    const { cwd } = await deadRuns([
      ...Object.entries(CHANGES).map(([branch, script]) => ({ script, ...onBranch(branch) })),
      onBranch("switched"),
      onBranch("broken"),
    ]);
    const [switched, broken] = [worktreeFor(cwd, "switched"), worktreeFor(cwd, "broken")];
    git(switched, "switch", "--quiet", "--create", "mine");
    writeFileSync(join(broken, ".git"), "gitdir: nowhere\n");
    const list = () =>
      branches.map((branch) => execFileSync("ls", ["-l", worktreeFor(cwd, branch)], { encoding: "utf8" }));
    const before = list();
    const outcomes = await clean(cwd, "--yes");
    const kept = new Map(
      outcomes
        .filter(({ what, outcome }) => what === "worktree" && outcome === "kept")
        .map(({ name, keptBecause }) => [name, keptBecause]),
    );
    for (const branch of branches) {
      expect(kept.get(worktreeFor(cwd, branch))).toBe("it holds changes that are not committed");
    }
    expect(list()).toEqual(before);
    expect(kept.get(switched)).toContain("it was switched to mine");
    expect(git(switched, "branch", "--show-current")).toBe("mine");
    expect(kept.has(broken)).toBe(true);
    expect(existsSync(join(broken, "README.md"))).toBe(true);
  });

  it("a worktree that a later run has taken over is not removed with the earlier run", async () => {
    const { cwd, runs } = await deadRuns([{ script: "echo precious > precious.txt" }]);
    const [first] = runs;
    const later = await startRuns([{}], cwd);
    const [second] = later.runs;
    expect((await clean(cwd, "--yes")).filter(({ what }) => what === "worktree")).toEqual([]);
    await later.die();
    const named = await clean(cwd, "--yes", "--run", first.runId);
    expect(named).toContainEqual(
      expect.objectContaining({
        what: "worktree",
        keptBecause: `run ${second.runId} has worked in it since`,
      }),
    );
    expect(existsSync(join(worktreeFor(cwd), "precious.txt"))).toBe(true);
    await clean(cwd, "--yes", "--run", second.runId);
    expect(existsSync(worktreeFor(cwd))).toBe(false);
  });
});

describeWith(["bubblewrap"], "clean never loses work:", () => {
  it("announces the import of commits, imports them onto the branch, and only then removes the rest", async () => {
    const { cwd, runs } = await deadRuns([{ script: commits("unfinished") }]);
    const [{ runId }] = runs;
    expect(await clean(cwd)).toContainEqual(
      expect.objectContaining({ what: "work", outcome: "wouldBeRescued", runIds: [runId] }),
    );
    expect(subjectsOf(cwd, "b")[0]).toBe("Initial commit");
    expect(await cleanInWords(cwd)).toContain(`Imported 1 commit of run ${runId}, which had died, onto b.`);
    expect(subjectsOf(cwd, "b")[0]).toBe("unfinished");
    expect(leftovers(cwd)).toEqual([]);
    git(cwd, "fsck", "--connectivity-only");
  });

  it("commits on another branch, on a detached HEAD, in a tag, packed or stashed are imported before the files are removed", async () => {
    const scripts = {
      other: `git switch --quiet --create other; ${commits("other")}; git switch --quiet -`,
      detached: `git switch --quiet --detach; ${commits("detached")}`,
      tag: `git switch --quiet --detach; ${commits("tag")}; git tag -a -m t t; git switch --quiet -`,
      packed: `${commits("packed")}; git pack-refs --all; git gc --quiet --prune=now`,
      stash: "echo a > README.md; git stash -q -m stash; echo b > README.md; git stash -q -m later",
    };
    const { cwd, runs } = await deadRuns(
      Object.entries(scripts).map(([name, script]) => ({ script, ...onBranch(`b-${name}`) })),
    );
    const outcomes = await clean(cwd, "--yes");
    for (const { runId } of runs) {
      expect(outcomes).toContainEqual(
        expect.objectContaining({ what: "files", outcome: "removed", runIds: [runId] }),
      );
    }
    const held = git(cwd, "log", "--all", "--format=%s").split("\n").join(" ");
    for (const name of [...Object.keys(scripts), "later"]) expect(held).toContain(name);
  });

  it("files with commits that cannot be imported are kept and named", async () => {
    const { cwd, runs } = await deadRuns([{ script: commits("unfinished") }]);
    const [{ runId }] = runs;
    writeFileSync(join(cwd, ".sanddune/runs", runId, "files/git/refs/heads/b"), "garbage");
    for (let time = 0; time < 2; time++) {
      const said = await cleanInWords(cwd);
      expect(said).toContain(`.sanddune/runs/${runId}/files`);
      expect(said).toContain(`sanddune rescue ${runId}`);
      expect(said).toContain(`sanddune clean --run ${runId}`);
    }
    // What it builds on stays, too.
    expect(runRefs(cwd).split("\n")).toContain(`refs/sanddune/base/${runId}`);
    await clean(cwd, "--yes", "--run", runId);
    expect(existsSync(join(cwd, ".sanddune/runs", runId))).toBe(false);
  });
});

describeWith(["bubblewrap"], "temporary branches of merge-to-head:", () => {
  it("one with commits that exist nowhere else stays until it is named itself; a merged one is removed; one that is checked out elsewhere stays", async () => {
    const order = (name: string) =>
      ({ ...commitsFirst(name), branchStrategy: { type: "merge-to-head" } }) as const;
    const { cwd, runs } = await deadRuns([order("alone"), order("merged"), order("elsewhere")]);
    const [alone, merged, elsewhere] = runs;
    const branchOf = ({ runId }: HangingRun) => `sanddune/${runId}`;
    const exists = (run: HangingRun) => git(cwd, "branch", "--list", branchOf(run)) !== "";
    git(cwd, "merge", "--quiet", branchOf(merged));

    expect(await cleanInWords(cwd)).toContain("1 commit on no other branch");
    expect(subjectsOf(cwd, branchOf(alone))[0]).toBe("alone");
    expect(exists(merged)).toBe(false);
    expect(subjectsOf(cwd, "main")[0]).toBe("merged");

    const checkout = join(temporaryDirectory(), "checkout");
    git(cwd, "worktree", "add", "--quiet", checkout, branchOf(elsewhere));
    expect(await cleanInWords(cwd, "--run", elsewhere.runId)).toContain(`it is checked out at ${checkout}`);
    expect(git(checkout, "log", "-1", "--format=%s")).toBe("elsewhere");

    await clean(cwd, "--yes", "--run", alone.runId);
    expect(exists(alone)).toBe(true);
    expect(await cleanInWords(cwd)).toContain(`sanddune clean --branch ${branchOf(alone)}`);
    await clean(cwd, "--yes", "--branch", branchOf(alone));
    expect(exists(alone)).toBe(false);
  });
});

it("refs of commits that could not go on the branch of a run stay until a branch has those commits", async () => {
  const cwd = temporaryRepository();
  const stray = shell(
    "git switch --quiet --create other",
    "git commit --quiet --allow-empty -m stray",
    "git switch --quiet agent/work",
  );
  await play(cwd, [stray], { branchStrategy: STRATEGIES.branch, sandbox: SANDBOXES.isolated() });
  const ref = runRefs(cwd);
  expect(subjectsOf(cwd, ref)[0]).toBe("stray");
  expect(await cleanInWords(cwd)).toContain("no branch has these commits");
  expect(runRefs(cwd)).toBe(ref);
  git(cwd, "branch", "rescued", ref);
  await clean(cwd, "--yes");
  expect(runRefs(cwd)).toBe("");
});
