import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SandboxError } from "../../../src/errors.ts";
import { createSandbox } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { runCli } from "../../cli/callCli.ts";
import { worktreeFor } from "../../faults/clean/deadRuns.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { git } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import {
  failureOf,
  meetingPoint,
  mustSucceed,
  play,
  STRATEGIES,
  shell,
  worktreesOf,
} from "../../security/support.ts";

const sharedCheckouts = (cwd: string): string[] => {
  const directory = join(cwd, ".git/sanddune/checkouts");
  return existsSync(directory) ? readdirSync(directory) : [];
};

const BRANCH = { branchStrategy: STRATEGIES.branch } as const;
const REAL_AGENT = mustSucceed(
  'test -z "$(git status --porcelain)"',
  'test -z "$(git diff)"',
  "echo changed >> files/0/5.txt; git rm -q files/0/6.txt; rm -r files/1; mkdir files/1; echo new > files/1/new.txt",
  "git add -A && git commit -qam Work",
  // The commit, its trees and its new files: no file that the host has.
  'test "$(git count-objects | cut -d" " -f1)" = 7',
);

const PROVIDERS: readonly ["bubblewrap" | "docker" | "podman", () => SandboxProvider][] = [
  ["bubblewrap", () => bubblewrap()],
  ["docker", () => docker({ imageName: TEST_IMAGE })],
  ["podman", () => podman({ imageName: TEST_IMAGE })],
];

for (const [name, provider] of PROVIDERS) {
  describeWith([name], `a run on a large repository (${name})`, () => {
    it("sees a clean checkout, and lands changed, deleted and replaced files without a copy of the others", async () => {
      const cwd = largeRepository();
      const result = await play(cwd, [REAL_AGENT], { ...BRANCH, sandbox: provider() });
      expect(result).toMatchObject({ checkout: "overlay", commits: [{}], warnings: [] });
      expect(result.preservedWorktreePath).toBeUndefined();
      expect(
        git(cwd, "show", "--format=", "--name-status", "agent/work", "--", "files/0", "files/1/new.txt"),
      ).toBe("M\tfiles/0/5.txt\nD\tfiles/0/6.txt\nA\tfiles/1/new.txt");
      expect(git(cwd, "ls-tree", "--name-only", "agent/work", "files/1/")).toBe("files/1/new.txt");
      expect(worktreesOf(cwd)).toEqual([cwd]);
      expect(sharedCheckouts(cwd)).toHaveLength(1);
      expect(git(cwd, "status", "--porcelain")).toBe("");
    });

    it("keeps uncommitted work as a complete worktree, which the next run continues in", async () => {
      const cwd = largeRepository();
      const steps = mustSucceed(
        "echo open > open.txt; echo changed >> files/0/5.txt; rm files/0/6.txt",
        "rm -r files/1; mkdir files/1; echo new > files/1/new.txt; mkdir ignored; ln -s ../README.md ignored/link",
        "git add open.txt && git commit -qm Half; chmod +x files/0/7.txt; echo staged > staged.txt; git add staged.txt",
      );
      const { preservedWorktreePath: path = "", commits } = await play(cwd, [steps], {
        ...BRANCH,
        sandbox: provider(),
      });
      expect(commits).toHaveLength(1);
      expect(
        git(path, "status", "--porcelain")
          .split("\n")
          .filter((line) => !/files\/1\/1\d\d/.test(line)),
      ).toEqual([
        " M files/0/5.txt",
        " D files/0/6.txt",
        " M files/0/7.txt",
        "?? files/1/new.txt",
        "?? ignored/",
        "?? staged.txt",
      ]);
      expect(readdirSync(join(path, "files/1"))).toEqual(["new.txt"]);
      expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
      expect(readFileSync(join(path, "files/14/1499.txt"), "utf8")).toBe("file 1499\n");
      expect(
        readdirSync(join(cwd, ".sanddune/worktrees")).filter((entry) => entry.startsWith(".rem")),
      ).toEqual([]);
      const next = await play(cwd, [shell("git add -A && git commit -qm Rest")], {
        ...BRANCH,
        sandbox: provider(),
      });
      expect(next).toMatchObject({ checkout: "worktree", commits: [{}] });
      expect(git(cwd, "show", "agent/work:staged.txt")).toBe("staged");
    });

    it("keeps entries of every kind as the agent left them", async () => {
      const cwd = largeRepository();
      const list =
        "find . -mindepth 1 -path ./.git -prune -o -name listed -prune -o -path ./files -prune -o -printf '%P %y %m %n %l\\n' | LC_ALL=C sort";
      const steps = mustSucceed(
        "mkdir -p odd/empty odd/closed; echo x > odd/one; ln odd/one odd/two; ln -s /nowhere odd/dangling; ln -s one odd/link",
        "mkfifo odd/pipe; echo x > odd/closed/x; chmod 0 odd/closed/x; chmod 500 odd/closed; echo x > odd/program; chmod 751 odd/program",
        'echo x > odd/.wh.one; echo x > odd/.wh..wh..opq; echo x > "odd/new',
        "line\"; echo x > \"$(printf 'odd/\\377')\"; echo x > odd/-x; echo x > 'odd/ '",
        "rm README.md; mkdir README.md; echo x > README.md/x; rm -r files/2; echo x > files/2; mv files/3 files/moved",
        `${list} > /tmp/listed; mv /tmp/listed listed`,
      );
      const result = await play(cwd, [steps], { ...BRANCH, sandbox: provider() });
      const path = result.preservedWorktreePath ?? "";
      expect(result.checkout).toBe("overlay");
      expect(execFileSync("sh", ["-c", list], { cwd: path, encoding: "latin1" })).toBe(
        readFileSync(join(path, "listed"), "latin1"),
      );
      expect(readFileSync(join(path, "files/2"), "utf8")).toBe("x\n");
      expect([existsSync(join(path, "files/3")), readdirSync(join(path, "files/moved")).length]).toEqual([
        false,
        100,
      ]);
    });

    it("starts from a moved branch without a second complete checkout", async () => {
      const cwd = largeRepository();
      const work = (round: number) =>
        mustSucceed(
          `test "$(cat count 2>/dev/null)" = "${round === 0 ? "" : round - 1}"`,
          'test -z "$(git status --porcelain)"',
          `echo ${round} > count; git rm -q files/2/20${round}.txt; git add -A; git commit -qm "Round ${round}"`,
        );
      for (const round of [0, 1, 2]) {
        const options = { branchStrategy: STRATEGIES["merge-to-head"], sandbox: provider() };
        expect(await play(cwd, [work(round)], options)).toMatchObject({
          checkout: "overlay",
          branch: "main",
        });
      }
      expect(readFileSync(join(cwd, "count"), "utf8")).toBe("2\n");
      expect(sharedCheckouts(cwd)).toHaveLength(1);
    });
  });
}

describeWith(["bubblewrap"], "the overlay of a run", () => {
  it("writes nothing to the shared checkout, which runs use at the same time", async () => {
    const cwd = largeRepository();
    await play(cwd, [{ commit: "First" }], { branchStrategy: { type: "branch", branch: "agent/first" } });
    const [name = ""] = sharedCheckouts(cwd);
    const files = join(cwd, ".git/sanddune/checkouts", name, "files");
    const spoil = mustSucceed("rm -rf files; echo bad > README.md; git add -A; git commit -qm Spoil");
    const results = await Promise.all(
      [0, 1, 2, 3].map((number) =>
        play(cwd, [spoil], { branchStrategy: { type: "branch", branch: `agent/${number}` } }),
      ),
    );
    expect(results.map(({ checkout, commits }) => [checkout, commits.length])).toEqual(
      Array(4).fill(["overlay", 1]),
    );
    expect(readFileSync(join(files, "README.md"), "utf8")).toBe("# Fixture\n");
    expect(readdirSync(join(files, "files"))).toHaveLength(15);
    expect(existsSync(join(files, ".git"))).toBe(false);
  });

  it("is not used where the files are promised on the host", async () => {
    const cwd = largeRepository();
    writeFileSync(join(cwd, ".env.local"), "x");
    const ready = { host: { onWorktreeReady: [{ command: "test -e files/0/5.txt" }] } };
    expect(await play(cwd, [{ commit: "x" }], { ...BRANCH, hooks: ready })).toMatchObject({
      checkout: "worktree",
    });
    const copied = { ...BRANCH, copyToWorktree: [".env.local"] };
    expect(await play(cwd, [{ commit: "y" }], copied)).toMatchObject({ checkout: "worktree" });
    await using sandbox = await createSandbox({ branch: "agent/lasting", sandbox: bubblewrap(), cwd });
    expect(existsSync(join(sandbox.worktreePath, "files/0/5.txt"))).toBe(true);
    expect(await play(cwd, [{ commit: "z" }], { branchStrategy: STRATEGIES.head })).toMatchObject({
      checkout: "head",
    });
    expect(sharedCheckouts(cwd)).toEqual([]);
  });

  it("makes a shared checkout anew that another user could have written, or that is incomplete", async () => {
    const cwd = largeRepository();
    const round = async (branch: string) => {
      const check = mustSucceed('test -z "$(git status --porcelain)"', "test ! -e planted");
      await play(cwd, [check, { commit: "x" }], { branchStrategy: { type: "branch", branch } });
      return join(cwd, ".git/sanddune/checkouts", sharedCheckouts(cwd)[0] ?? "");
    };
    const path = await round("agent/1");
    chmodSync(path, 0o777);
    writeFileSync(join(path, "files/planted"), "");
    expect(await round("agent/2")).toBe(path);
    rmSync(join(path, "checkout.json"));
    writeFileSync(join(path, "files/planted"), "");
    await round("agent/3");
    // As a power cut leaves it: the record is of an earlier boot, and a file is empty.
    const record = JSON.parse(readFileSync(join(path, "checkout.json"), "utf8"));
    writeFileSync(join(path, "checkout.json"), JSON.stringify({ ...record, bootId: "earlier" }));
    writeFileSync(join(path, "files/files/0/5.txt"), "");
    await round("agent/4");
    expect(readFileSync(join(path, "files/files/0/5.txt"), "utf8")).toBe("file 5\n");
    expect(sharedCheckouts(cwd)).toHaveLength(1);
  });

  it("keeps a shared checkout while a run uses it, and few others", async () => {
    const cwd = largeRepository();
    const point = meetingPoint();
    const first = play(cwd, [point.wait, { commit: "First" }], {
      ...BRANCH,
      sandbox: point.sandboxes.bubblewrap(),
    });
    await point.meet(async () => {
      for (const number of [1, 2, 3, 4]) {
        git(cwd, "config", "core.eol", number % 2 === 0 ? "lf" : "native");
        git(cwd, "config", "core.packedGitLimit", `${number}m`);
        await play(cwd, [{ commit: "x" }], { branchStrategy: { type: "branch", branch: `agent/${number}` } });
      }
      expect(sharedCheckouts(cwd).length).toBeLessThanOrEqual(4);
    });
    expect(await first).toMatchObject({ checkout: "overlay", commits: [{}] });
  });

  it("survives an agent that fails, with its work in the worktree", async () => {
    const cwd = largeRepository();
    const error = await failureOf(play(cwd, [shell("echo open > open.txt"), { exit: 1 }], BRANCH));
    expect(readFileSync(join(error.preservedWorktreePath ?? "", "open.txt"), "utf8")).toBe("open\n");
    expect(existsSync(join(error.preservedWorktreePath ?? "", "files/0/5.txt"))).toBe(true);
  });

  it.each([
    ["the shared checkout", (cwd: string) => join(cwd, ".git/sanddune/checkouts")],
    ["the empty worktree", (cwd: string) => join(cwd, ".sanddune/worktrees")],
  ])("keeps the work, and rescues it, if someone removes %s during the run", async (_, directoryOf) => {
    const cwd = largeRepository();
    const point = meetingPoint();
    const running = play(cwd, [shell("echo open > open.txt"), point.wait], {
      ...BRANCH,
      sandbox: point.sandboxes.bubblewrap(),
    });
    await point.meet(() => {
      const directory = directoryOf(cwd);
      for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
    });
    const { runId, preservedWorktreePath, warnings } = await running;
    if (preservedWorktreePath === undefined) {
      expect(warnings.join()).toContain(`They are kept in ${join(cwd, ".git/sanddune/overlays", runId)}`);
      const cleaned = await runCli(["clean", "--yes"], { cwd });
      expect(cleaned).toMatchObject({ exitCode: 0 });
      expect(cleaned.stdout).toContain(`Wrote the files of run ${runId}`);
      expect(cleaned.stdout).not.toContain("not imported");
      expect(existsSync(join(cwd, ".sanddune/runs", runId, "files"))).toBe(false);
    }
    const path = worktreeFor(cwd, "agent/work");
    expect([undefined, path]).toContain(preservedWorktreePath);
    expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
    expect(git(path, "status", "--porcelain")).toBe("?? open.txt");
  });

  it("writes all files again if the attributes of files have changed", async () => {
    const cwd = largeRepository();
    await play(cwd, [{ commit: "x" }], { branchStrategy: { type: "branch", branch: "agent/before" } });
    writeFileSync(join(cwd, ".gitattributes"), "*.txt text eol=crlf\n");
    git(cwd, "add", ".gitattributes");
    git(cwd, "commit", "--quiet", "-m", "Attributes");
    const check = mustSucceed("grep -q $(printf '\\r') files/0/5.txt");
    expect(await play(cwd, [check, { commit: "y" }], BRANCH)).toMatchObject({ checkout: "overlay" });
  });

  it("is tried where clean removes nothing meanwhile", async () => {
    const cwd = largeRepository();
    const real = bubblewrap();
    const overlayProblem = async (directory: string) => {
      const trial = join(directory, "trial");
      mkdirSync(trial);
      expect((await runCli(["clean", "--yes"], { cwd })).exitCode).toBe(0);
      expect(existsSync(trial)).toBe(true);
      return real.overlayProblem?.(directory);
    };
    const result = await play(cwd, [{ commit: "x" }], { ...BRANCH, sandbox: { ...real, overlayProblem } });
    expect(result).toMatchObject({ checkout: "overlay", warnings: [] });
  });

  it("is not tried again with an engine that has refused one", async () => {
    const cwd = largeRepository();
    const real = bubblewrap();
    let refused = 0;
    const create: typeof real.create = async (options) => {
      if (options.mounts.every(({ overlay }) => overlay === undefined)) return real.create(options);
      refused += 1;
      throw new SandboxError("picky", "the daemon could not mount the volume");
    };
    const sandbox = { ...real, create };
    const onBranch = (branch: string) => ({ branchStrategy: { type: "branch", branch }, sandbox }) as const;
    const check = mustSucceed('test -z "$(git status --porcelain)"', "test -e files/0/5.txt");
    const first = await play(cwd, [check, { commit: "x" }], onBranch("agent/1"));
    expect(first).toMatchObject({ checkout: "worktree", commits: [{}] });
    expect(first.warnings).toEqual([
      expect.stringMatching(/start with a worktree.*could not mount the volume/),
    ]);
    const second = await play(cwd, [check, { commit: "y" }], onBranch("agent/2"));
    expect(second).toMatchObject({ checkout: "worktree", commits: [{}], warnings: [] });
    expect(refused).toBe(1);
  });

  it("leaves no worktree and no branch if the shared checkout cannot be made", async () => {
    const cwd = largeRepository();
    git(cwd, "config", "filter.broken.smudge", "false");
    git(cwd, "config", "filter.broken.required", "true");
    writeFileSync(join(cwd, ".git/info/attributes"), "5.txt filter=broken\n");
    await failureOf(play(cwd, [{ commit: "x" }], BRANCH));
    expect(readdirSync(join(cwd, ".git/sanddune/overlays"))).toEqual([]);
    expect(worktreesOf(cwd)).toEqual([cwd]);
    expect(git(cwd, "branch", "--list", "agent/*")).toBe("");
  });
});
