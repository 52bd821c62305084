import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runCli } from "../../cli/callCli.ts";
import { worktreeFor } from "../../faults/clean/deadRuns.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { git } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { meetingPoint, mustSucceed, play, STRATEGIES } from "../../security/support.ts";

const BEFORE = mustSucceed(
  "echo a > a.txt; git add a.txt; git commit -qm Before; echo open > open.txt; rm files/0/6.txt",
);
const AFTER = mustSucceed(
  "cat files/14/1499.txt open.txt; echo b > b.txt; git add b.txt; git commit -qm After",
);

/** Starts a run that waits after its first commit, and does something meanwhile. */
const meanwhile = async (cwd: string, act: () => unknown) => {
  const point = meetingPoint();
  const running = play(cwd, [BEFORE, point.wait, AFTER], {
    branchStrategy: STRATEGIES.branch,
    sandbox: point.sandboxes.bubblewrap(),
  });
  await point.meet(async () => void (await act()));
  return running;
};

/** A directory on another file system than those of the tests, if there is one. */
const elsewhere = (): string => {
  const path = mkdtempSync("/var/tmp/sanddune-test-");
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

describeWith(["bubblewrap"], "the overlay of a run", () => {
  it("is written out to the worktree if the git directory is on another file system", async () => {
    const cwd = largeRepository();
    const gitDirectory = join(elsewhere(), "repository.git");
    cpSync(join(cwd, ".git"), gitDirectory, { recursive: true });
    rmSync(join(cwd, ".git"), { recursive: true });
    writeFileSync(join(cwd, ".git"), `gitdir: ${gitDirectory}\n`);
    const result = await play(cwd, [BEFORE], { branchStrategy: STRATEGIES.branch });
    expect(result).toMatchObject({ checkout: "overlay", commits: [{}], warnings: [] });
    const path = result.preservedWorktreePath ?? "";
    expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
    expect(readFileSync(join(path, "files/14/1499.txt"), "utf8")).toBe("file 1499\n");
    expect(readdirSync(join(gitDirectory, "sanddune/overlays"))).toEqual([]);
  });
});

describeWith(["bubblewrap"], "the overlay of a run, if the user cleans the checkout meanwhile", () => {
  it("stays under the agent: its commits land, and its uncommitted work is kept", async () => {
    const cwd = largeRepository();
    const result = await meanwhile(cwd, () => {
      git(cwd, "clean", "-fdx");
    });
    expect(result).toMatchObject({ checkout: "overlay", commits: [{}, {}] });
    expect(git(cwd, "log", "-2", "--format=%s", "agent/work")).toBe("After\nBefore");
    const path = result.preservedWorktreePath ?? "";
    expect(path).toBe(worktreeFor(cwd, "agent/work"));
    expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
    expect(git(path, "status", "--porcelain").split("\n").sort()).toEqual([
      " D files/0/6.txt",
      "?? open.txt",
    ]);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(readdirSync(join(cwd, ".git/sanddune/overlays"))).toEqual([]);
  });

  it("keeps the agent's work even if everything in .sanddune is deleted", async () => {
    const cwd = largeRepository();
    await meanwhile(cwd, () => git(cwd, "clean", "-ffdx")).catch(() => undefined);
    await runCli(["clean", "--yes"], { cwd });
    const path = worktreeFor(cwd, "agent/work");
    expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
    expect(readFileSync(join(path, "files/14/1499.txt"), "utf8")).toBe("file 1499\n");
    expect(lstatSync(dirname(path)).mode & 0o077).toBe(0);
    expect(readdirSync(join(cwd, ".git/sanddune/overlays"))).toEqual([]);
  });

  it("is recognised as that of a running run, even if its journal is gone", async () => {
    const cwd = largeRepository();
    await meanwhile(cwd, async () => {
      const [run = ""] = readdirSync(join(cwd, ".git/sanddune/overlays"));
      rmSync(join(cwd, ".sanddune/runs", run, "journal.jsonl"));
      const listed = await runCli(["clean", "--yes"], { cwd });
      expect(listed.stdout).not.toContain(run);
      expect((await runCli(["rescue", run], { cwd })).stderr).toContain("is still running");
      expect(existsSync(join(cwd, ".git/sanddune/overlays", run, "upper/open.txt"))).toBe(true);
    }).catch(() => undefined);
  });
});
