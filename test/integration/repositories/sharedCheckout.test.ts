import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../cli/callCli.ts";
import { worktreeFor } from "../../faults/clean/deadRuns.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { git, temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith, isRoot } from "../../helpers/runtimes/runtimes.ts";
import { meetingPoint, mustSucceed, play, STRATEGIES, shell, worktreesOf } from "../../security/support.ts";

const BRANCH = { branchStrategy: STRATEGIES.branch } as const;
const onBranch = (branch: string) => ({ branchStrategy: { type: "branch", branch } }) as const;

const sharedCheckouts = (cwd: string): string[] => {
  const directory = join(cwd, ".git/sanddune/checkouts");
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
};

describeWith(["bubblewrap"], "a shared checkout", () => {
  it("is made anew after a program of the user has changed files in it, and the run before says so", async () => {
    const cwd = largeRepository();
    await play(cwd, [{ commit: "x" }], onBranch("agent/1"));
    const [path = ""] = sharedCheckouts(cwd);
    writeFileSync(join(path, "files/files/0/5.txt"), "changed");
    rmSync(join(path, "files/files/0/6.txt"));
    // Runs that begin within seconds of each other do not all look.
    utimesSync(join(path, "verified"), 0, 0);
    const commitAll = [shell("echo new > new.txt; git add -A; git commit -qm Work")];
    const next = await play(cwd, commitAll, onBranch("agent/2"));
    expect(next.warnings.join()).toContain(`Files in ${path} were changed`);
    expect(await play(cwd, commitAll, onBranch("agent/3"))).toMatchObject({
      checkout: "overlay",
      warnings: [],
    });
    expect(git(cwd, "diff", "--name-only", "main", "agent/3")).toBe("new.txt");
  });

  it("is made anew after a program of the user has put ignored files into it", async () => {
    const cwd = largeRepository();
    writeFileSync(join(cwd, ".gitignore"), "*.log\n");
    git(cwd, "add", ".gitignore");
    git(cwd, "commit", "--quiet", "-m", "Ignore");
    await play(cwd, [{ commit: "x" }], onBranch("agent/1"));
    const [path = ""] = sharedCheckouts(cwd);
    writeFileSync(join(path, "files/planted.log"), "planted");
    utimesSync(join(path, "verified"), 0, 0);
    const next = await play(cwd, [{ commit: "y" }], onBranch("agent/2"));
    expect(next.warnings.join()).toContain(`Files in ${path} were changed`);
    expect(
      await play(cwd, [mustSucceed("test ! -e planted.log"), { commit: "z" }], onBranch("agent/3")),
    ).toMatchObject({ checkout: "overlay", warnings: [], commits: [{}] });
  });

  it("is made anew after its index was damaged", async () => {
    const cwd = largeRepository();
    await play(cwd, [{ commit: "x" }], onBranch("agent/1"));
    const [path = ""] = sharedCheckouts(cwd);
    truncateSync(join(path, "index"), 1000);
    const check = mustSucceed('test -z "$(git status --porcelain)"');
    expect(await play(cwd, [check, { commit: "y" }], onBranch("agent/2"))).toMatchObject({
      checkout: "overlay",
      warnings: [],
      commits: [{}],
    });
  });

  it.runIf(isRoot)("is not used below a directory of another user", async () => {
    const cwd = largeRepository();
    await play(cwd, [{ commit: "x" }], onBranch("agent/1"));
    chownSync(join(cwd, ".git/sanddune/checkouts"), 1, 1);
    expect(await play(cwd, [{ commit: "y" }], onBranch("agent/2"))).toMatchObject({ checkout: "worktree" });
  });

  it("stays under the run that uses it when another run must make it anew", async () => {
    const cwd = largeRepository();
    const point = meetingPoint();
    const commitAll = shell("echo new > new.txt; git add -A; git commit -qm Work");
    const running = play(cwd, [point.wait, commitAll], {
      ...BRANCH,
      sandbox: point.sandboxes.bubblewrap(),
    });
    await point.meet(async () => {
      for (const path of sharedCheckouts(cwd)) chmodSync(path, 0o755);
      await play(cwd, [{ commit: "x" }], onBranch("agent/other"));
    });
    await running;
    expect(git(cwd, "diff", "--name-only", "main", "agent/work")).toBe("new.txt");
    await runCli(["clean", "--yes"], { cwd });
    expect(sharedCheckouts(cwd)).toEqual([]);
  });

  it("is no failure of clean when a run finishes it meanwhile", async () => {
    const cwd = largeRepository(10_000);
    const running = play(cwd, [{ commit: "x" }], BRANCH);
    await waitFor(() => sharedCheckouts(cwd).some((path) => path.includes(".draft-")));
    expect(await runCli(["clean", "--yes"], { cwd })).toMatchObject({ exitCode: 0 });
    expect(await running).toMatchObject({ checkout: "overlay", commits: [{}] });
  });

  it("is used in a repository with a split index, and not in a sparse one", async () => {
    const cwd = largeRepository();
    git(cwd, "config", "core.splitIndex", "true");
    git(cwd, "update-index", "--split-index");
    const check = mustSucceed('test -z "$(git status --porcelain)"');
    expect(await play(cwd, [check, { commit: "x" }], onBranch("agent/split"))).toMatchObject({
      checkout: "overlay",
      commits: [{}],
    });
    git(cwd, "config", "core.sparseCheckout", "yes");
    // Another message: the same commit, made in the same second, would be one that the repository has.
    expect(await play(cwd, [check, { commit: "y" }], onBranch("agent/sparse"))).toMatchObject({
      checkout: "worktree",
      commits: [{}],
    });
  });

  it("leaves no worktree behind if a tool of the user writes an index for the empty one", async () => {
    const cwd = largeRepository();
    git(cwd, "config", "core.untrackedCache", "true");
    const point = meetingPoint();
    const running = play(cwd, [point.wait, { commit: "x" }], {
      ...BRANCH,
      sandbox: point.sandboxes.bubblewrap(),
    });
    await point.meet(() => {
      const path = worktreeFor(cwd, "agent/work");
      git(path, "update-index", "-q", "--refresh");
      expect(readdirSync(git(path, "rev-parse", "--absolute-git-dir"))).toContain("index");
    });
    expect((await running).preservedWorktreePath).toBeUndefined();
    expect(worktreesOf(cwd)).toEqual([cwd]);
  });

  it("does not keep an aborted run waiting for its verification, which the next run repeats", async () => {
    const cwd = largeRepository();
    const go = join(temporaryDirectory(), "go");
    writeFileSync(go, "");
    writeFileSync(join(cwd, "slow.txt"), "slow\n");
    writeFileSync(join(cwd, ".gitattributes"), "slow.txt filter=slow\n");
    git(cwd, "config", "filter.slow.clean", `until [ -e '${go}' ]; do sleep 0.02; done; cat`);
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Slow");
    await play(cwd, [{ commit: "x" }], onBranch("agent/1"));
    const [path = ""] = sharedCheckouts(cwd);
    // Git has to look at its content, and to wait for the filter.
    utimesSync(join(path, "files/slow.txt"), 0, 0);
    utimesSync(join(path, "verified"), 0, 0);
    rmSync(go);
    const controller = new AbortController();
    const point = meetingPoint();
    const sandbox = point.sandboxes.bubblewrap();
    const running = play(cwd, [point.wait], { ...BRANCH, sandbox, signal: controller.signal });
    await point.meet(() => controller.abort("enough"));
    await expect(running).rejects.toBe("enough");
    expect(existsSync(join(path, "verified"))).toBe(false);
  });

  it("is as git wrote it, even if git would not write a file like that again", async () => {
    const cwd = largeRepository();
    // Committed with its carriage return, before the attribute.
    writeFileSync(join(cwd, "windows.txt"), "one\r\n");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Windows");
    writeFileSync(join(cwd, ".gitattributes"), "windows.txt text\n");
    git(cwd, "add", ".gitattributes");
    git(cwd, "commit", "--quiet", "-m", "Attributes");
    for (const branch of ["agent/1", "agent/2"]) {
      const { warnings } = await play(cwd, [{ commit: branch }], onBranch(branch));
      expect(warnings).toEqual([]);
      utimesSync(join(sharedCheckouts(cwd)[0] ?? "", "verified"), 0, 0);
    }
  });
});
