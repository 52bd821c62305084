import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { runCli } from "../../cli/callCli.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { git, temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import {
  journalsOf,
  locksOf,
  mustSucceed,
  play,
  STRATEGIES,
  shell,
  worktreesOf,
} from "../../security/support.ts";
import { worktreeFor } from "../clean/deadRuns.ts";
import { killWhen, useProgram } from "./killedPrograms.ts";
import type { RunsOrder, SandboxName } from "./runsUntilKilled.ts";

const BRANCH = "agent/work";
const COMMIT = { commit: "Before the crash", files: { "a.txt": "a\n" } } as const;
const OPEN =
  "echo open > open.txt; rm files/0/6.txt; rm -r files/1; mkdir files/1; echo new > files/1/new.txt";

/** The names in a directory that may not exist. */
const namesIn = (...parts: string[]): string[] =>
  existsSync(join(...parts)) ? readdirSync(join(...parts)).filter((name) => name !== ".gitignore") : [];

/** Kills a run in a large repository at a moment. */
const useKilledRun = () => {
  const program = useProgram("runsUntilKilled.ts");
  return async (
    sandbox: SandboxName,
    { when, ends = false }: { when: (cwd: string, marks: string) => boolean; ends?: boolean },
  ): Promise<string> => {
    const cwd = largeRepository();
    const marks = temporaryDirectory();
    const rest = ends ? OPEN : `${OPEN}; touch ${marks}/reached; sleep 600`;
    const run = { name: "run", sandbox, branchStrategy: STRATEGIES.branch, steps: [COMMIT, shell(rest)] };
    const order: RunsOrder = { cwd, marks, image: TEST_IMAGE, runs: [run] };
    await killWhen(program(), { order, when: () => when(cwd, marks), mayEnd: ends });
    return cwd;
  };
};

const atWork = (_: string, marks: string) => existsSync(join(marks, "reached"));

/** The worktree has everything: the files of the branch, and the agent's changes. */
const expectWritten = (path: string): void => {
  expect(readFileSync(join(path, "open.txt"), "utf8")).toBe("open\n");
  expect(readdirSync(join(path, "files/1"))).toEqual(["new.txt"]);
  expect(existsSync(join(path, "files/0/6.txt"))).toBe(false);
  expect(readFileSync(join(path, "files/14/1499.txt"), "utf8")).toBe("file 1499\n");
};

const PROVIDERS = { bubblewrap: () => bubblewrap(), docker: () => docker({ imageName: TEST_IMAGE }) };

for (const sandbox of ["bubblewrap", "docker"] as const) {
  describeWith([sandbox], `SIGKILL during a run with an overlay (${sandbox})`, () => {
    const killedRun = useKilledRun();

    it("while the agent works: rescue imports its commits and writes its files to the worktree", async () => {
      const cwd = await killedRun(sandbox, { when: atWork });
      const run = namesIn(cwd, ".sanddune/runs")[0] as string;
      const rescued = await runCli(["rescue", run], { cwd });
      expect(rescued.exitCode).toBe(0);
      const path = worktreeFor(cwd, BRANCH);
      expectWritten(path);
      expect(git(cwd, "log", "-1", "--format=%s", BRANCH)).toBe("Before the crash");
      expect(git(path, "status", "--porcelain", "--", "a.txt", "files/14", "open.txt")).toBe("?? open.txt");
    });

    it.each([
      ["clean", ["clean", "--yes"]],
      ["rescue", ["rescue"]],
    ])("while the agent works: %s finds its files without the journal", async (name, command) => {
      const cwd = await killedRun(sandbox, { when: atWork });
      rmSync(join(cwd, ".sanddune"), { recursive: true });
      const [run = ""] = namesIn(cwd, ".git/sanddune/overlays");
      if (name === "clean") {
        const listed = await runCli(["clean"], { cwd });
        expect(listed.stdout).toContain("files for agent/work");
        expect(namesIn(cwd, ".git/sanddune/overlays")).toEqual([run]);
      }
      const rescued = await runCli([...command], { cwd });
      expect(rescued).toMatchObject({ exitCode: 0, stderr: "" });
      expect(rescued.stdout).toContain(`Wrote the files of run ${run}`);
      expectWritten(worktreeFor(cwd, BRANCH));
      expect(namesIn(cwd, ".git/sanddune/overlays")).toEqual([]);
      expect(namesIn(cwd, ".sanddune/runs")).toEqual([]);
      expect((await runCli(["clean", "--yes"], { cwd })).stdout).not.toContain("its journal is gone");
      expectWritten(worktreeFor(cwd, BRANCH));
    });

    it("while the agent works: the next run on the branch continues with its files", async () => {
      const cwd = await killedRun(sandbox, { when: atWork });
      const next = await play(cwd, [shell("git add -A && git commit -qm After")], {
        branchStrategy: STRATEGIES.branch,
        sandbox: PROVIDERS[sandbox](),
      });
      expect(next).toMatchObject({ checkout: "worktree" });
      expect(git(cwd, "log", "-2", "--format=%s", BRANCH)).toBe("After\nBefore the crash");
      expect(git(cwd, "show", `${BRANCH}:open.txt`)).toBe("open");
      expect(git(cwd, "ls-tree", "--name-only", BRANCH, "files/1/")).toBe("files/1/new.txt");
      expect(git(cwd, "status", "--porcelain")).toBe("");
    });
  });
}

describeWith(["bubblewrap"], "SIGKILL of a run with an overlay", () => {
  const killedRun = useKilledRun();
  const program = useProgram("runsUntilKilled.ts");

  it("while git writes the shared checkout: clean removes everything, and a second clean finds nothing", async () => {
    const isBeingMade = (cwd: string) =>
      namesIn(cwd, ".git/sanddune/checkouts").some((name) => name.startsWith(".draft-"));
    const cwd = await killedRun("bubblewrap", { when: isBeingMade });
    expect((await runCli(["clean", "--yes"], { cwd })).exitCode).toBe(0);
    expect(worktreesOf(cwd)).toEqual([cwd]);
    expect(namesIn(cwd, ".git/sanddune/checkouts")).toEqual([]);
    expect(namesIn(cwd, ".sanddune/worktrees")).toEqual([]);
    expect((await runCli(["clean", "--yes"], { cwd })).stdout).toContain("nothing to clean up");
    const next = await play(cwd, [{ commit: "After" }], { branchStrategy: STRATEGIES.branch });
    expect(next).toMatchObject({ checkout: "overlay", commits: [{}] });
  });

  it("while git writes the files of the run's own commit: the next run starts with all of them", async () => {
    const marks = temporaryDirectory();
    const cwd = largeRepository();
    const smudge = `test -e ${marks}/go || { touch ${marks}/hangs; until [ -e ${marks}/go ]; do sleep 0.02; done; exit 1; }; cat`;
    git(cwd, "config", "filter.slow.smudge", smudge);
    git(cwd, "config", "filter.slow.clean", "cat");
    git(cwd, "config", "filter.slow.required", "true");
    const commit = (files: Readonly<Record<string, string>>) => {
      for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
      git(cwd, "add", "--all");
      git(cwd, "commit", "--quiet", "-m", "Files");
    };
    commit({ ".gitattributes": "*.slow filter=slow\n" });
    await play(cwd, [COMMIT], { branchStrategy: { type: "branch", branch: "agent/first" } });
    commit({ "a.txt": "a\n", "z.slow": "z\n" });
    const run = {
      name: "run",
      sandbox: "bubblewrap",
      branchStrategy: STRATEGIES.branch,
      steps: [COMMIT],
    } as const;
    const order: RunsOrder = { cwd, marks, image: TEST_IMAGE, runs: [run] };
    await killWhen(program(), { order, when: () => existsSync(join(marks, "hangs")) });
    // Git fails: the file is missing.
    writeFileSync(join(marks, "go"), "");
    const clean = mustSucceed('test -z "$(git status --porcelain)"', "test -e a.txt", "test -e z.slow");
    expect(await play(cwd, [clean, COMMIT], { branchStrategy: STRATEGIES.branch })).toMatchObject({
      checkout: "overlay",
      commits: [{}],
    });
  });

  it.each([
    [
      "copies the files",
      (cwd: string) =>
        existsSync(
          join(cwd, ".sanddune/runs", namesIn(cwd, ".sanddune/runs")[0] ?? "", "files/overlay-copy"),
        ),
    ],
    ["has put the files in place", (cwd: string) => existsSync(join(worktreeFor(cwd, BRANCH), "open.txt"))],
    ["keeps the worktree", (cwd: string) => journalsOf(cwd).join("").includes('"kept"')],
  ])("when it %s: the next run continues with all of them", async (_, when) => {
    const cwd = await killedRun("bubblewrap", { when, ends: true });
    await play(cwd, [shell("git add -A && git commit -qm After")], { branchStrategy: STRATEGIES.branch });
    expect(git(cwd, "show", `${BRANCH}:open.txt`)).toBe("open");
    expect(git(cwd, "ls-tree", "--name-only", BRANCH, "files/1/")).toBe("files/1/new.txt");
    expect(git(cwd, "show", `${BRANCH}:files/14/1499.txt`)).toBe("file 1499");
    expect(locksOf(cwd)).toEqual([]);
    expect((await runCli(["clean", "--yes"], { cwd })).exitCode).toBe(0);
    expect(namesIn(cwd, ".git/sanddune/checkouts")).toEqual([]);
    expect(namesIn(cwd, ".sanddune/worktrees")).toEqual([]);
  });

  it.each([
    [
      "after the repository was moved",
      (cwd: string) => {
        renameSync(cwd, `${cwd}-moved`);
        onTestFinished(() => rmSync(`${cwd}-moved`, { recursive: true, force: true }));
        return `${cwd}-moved`;
      },
    ],
    [
      "after its shared checkout was removed",
      (cwd: string) => {
        for (const name of namesIn(cwd, ".git/sanddune/checkouts"))
          rmSync(join(cwd, ".git/sanddune/checkouts", name), { recursive: true });
        return cwd;
      },
    ],
    [
      "after a power cut has emptied the overlay's record",
      (cwd: string) => {
        const [run = ""] = namesIn(cwd, ".sanddune/runs");
        truncateSync(join(cwd, ".git/sanddune/overlays", run, "overlay.json"));
        return cwd;
      },
    ],
    [
      "after its empty worktree was moved away",
      (cwd: string) => {
        renameSync(worktreeFor(cwd, BRANCH), join(cwd, ".sanddune/worktrees/.removing-x"));
        return cwd;
      },
    ],
  ])("while the agent works: rescue writes its files %s", async (_, change) => {
    const cwd = change(await killedRun("bubblewrap", { when: atWork }));
    const run = namesIn(cwd, ".sanddune/runs")[0] as string;
    expect((await runCli(["rescue", run], { cwd })).exitCode).toBe(0);
    const path = worktreeFor(cwd, BRANCH);
    expectWritten(path);
    expect(git(path, "status", "--porcelain", "--", "a.txt", "files/14", "open.txt")).toBe("?? open.txt");
  });

  it.each([
    ["removed", (cwd: string) => git(cwd, "worktree", "remove", "-f", "-f", worktreeFor(cwd, BRANCH))],
    [
      "deleted, and git has forgotten it",
      (cwd: string) => {
        rmSync(worktreeFor(cwd, BRANCH), { recursive: true });
        git(cwd, "worktree", "unlock", worktreeFor(cwd, BRANCH));
        git(cwd, "worktree", "prune");
      },
    ],
    ["deleted with all ignored files", (cwd: string) => git(cwd, "clean", "-fdx")],
    ["deleted with all ignored files and all repositories", (cwd: string) => git(cwd, "clean", "-ffdx")],
  ])("while the agent works: rescue writes its files after the empty worktree was %s", async (_, remove) => {
    const cwd = await killedRun("bubblewrap", { when: atWork });
    const [run = ""] = namesIn(cwd, ".git/sanddune/overlays");
    remove(cwd);
    expect((await runCli(["rescue", run], { cwd })).stdout).toContain(`Wrote the files of run ${run}`);
    const path = worktreeFor(cwd, BRANCH);
    expectWritten(path);
    expect(worktreesOf(cwd)).toEqual([cwd, path]);
    expect(namesIn(cwd, ".git/sanddune/overlays")).toEqual([]);
    // Ordinary git removes it.
    git(cwd, "worktree", "remove", "--force", path);
  });

  it.each([
    [
      "was deleted",
      ["worktree", "remove", "-f", "-f"],
      ["branch", "-D", BRANCH],
      /no longer exists.*git branch agent\/work [0-9a-f]{40}/s,
    ],
    [
      "is checked out elsewhere",
      ["worktree", "remove", "-f", "-f"],
      ["switch", "--quiet", BRANCH],
      /is checked out at/,
    ],
  ] as const)(
    "while the agent works: rescue says where its files are if the branch %s",
    async (_, removal, change, reason) => {
      const cwd = await killedRun("bubblewrap", { when: atWork });
      const [run = ""] = namesIn(cwd, ".sanddune/runs");
      git(cwd, ...removal, worktreeFor(cwd, BRANCH));
      git(cwd, ...change);
      const refused = await runCli(["rescue", run], { cwd });
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toMatch(reason);
      expect(refused.stderr).toContain(`They are kept in ${join(cwd, ".git/sanddune/overlays", run)}`);
      const kept = await runCli(["clean", "--yes"], { cwd });
      expect(kept.stdout).toContain("They are kept in");
      git(cwd, "switch", "--quiet", "main");
      if (git(cwd, "branch", "--list", BRANCH) === "") git(cwd, "branch", BRANCH);
      expect((await runCli(["rescue", run], { cwd })).exitCode).toBe(0);
      expectWritten(worktreeFor(cwd, BRANCH));
    },
  );

  it("while the agent works: the next run on the branch continues with its files without the journal", async () => {
    const cwd = await killedRun("bubblewrap", { when: atWork });
    rmSync(join(cwd, ".sanddune"), { recursive: true });
    await play(cwd, [shell("git add -A && git commit -qm After")], { branchStrategy: STRATEGIES.branch });
    expect(git(cwd, "show", `${BRANCH}:open.txt`)).toBe("open");
    expect(git(cwd, "show", `${BRANCH}:files/14/1499.txt`)).toBe("file 1499");
  });

  it("while the agent works: clean keeps its files if neither the journal nor the record can be read", async () => {
    const cwd = await killedRun("bubblewrap", { when: atWork });
    rmSync(join(cwd, ".sanddune"), { recursive: true });
    const [run = ""] = namesIn(cwd, ".git/sanddune/overlays");
    const directory = join(cwd, ".git/sanddune/overlays", run);
    truncateSync(join(directory, "run.json"));
    const kept = await runCli(["clean", "--yes"], { cwd });
    expect(kept.stdout).toContain(`the only copy of the files in ${directory}/upper`);
    expect(readFileSync(join(directory, "upper/open.txt"), "utf8")).toBe("open\n");
  });

  it("while the agent works: rescue writes its files even if the user had git restore the empty worktree", async () => {
    const cwd = await killedRun("bubblewrap", { when: atWork });
    const path = worktreeFor(cwd, BRANCH);
    git(path, "reset", "--quiet", "--hard");
    const [run = ""] = namesIn(cwd, ".sanddune/runs");
    expect((await runCli(["rescue", run], { cwd })).exitCode).toBe(0);
    expectWritten(path);
  });

  it("while the agent works: rescue imports its commits even where no overlay can be mounted", async () => {
    const cwd = await killedRun("bubblewrap", { when: atWork });
    const [run = ""] = namesIn(cwd, ".sanddune/runs");
    const programs = temporaryDirectory();
    writeFileSync(join(programs, "unshare"), "#!/bin/sh\necho refused >&2; exit 1\n", { mode: 0o755 });
    vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
    const refused = await runCli(["rescue", run], { cwd });
    vi.unstubAllEnvs();
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("refused");
    expect(git(cwd, "log", "-1", "--format=%s", BRANCH)).toBe("Before the crash");
    expect((await runCli(["rescue", run], { cwd })).exitCode).toBe(0);
    expectWritten(worktreeFor(cwd, BRANCH));
  });

  it("while the agent works: rescue keeps files that the user has put into the empty worktree", async () => {
    const cwd = await killedRun("bubblewrap", { when: atWork });
    const path = worktreeFor(cwd, BRANCH);
    writeFileSync(join(path, "mine.txt"), "mine");
    const [run = ""] = namesIn(cwd, ".sanddune/runs");
    const refused = await runCli(["rescue", run], { cwd });
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("move them elsewhere");
    await runCli(["clean", "--yes"], { cwd });
    expect(readFileSync(join(path, "mine.txt"), "utf8")).toBe("mine");
    rmSync(join(path, "mine.txt"));
    expect((await runCli(["rescue", run], { cwd })).exitCode).toBe(0);
    expectWritten(path);
  });

  it("while the agent works: clean lists the files, and writes them before it removes anything", async () => {
    const cwd = await killedRun("bubblewrap", { when: atWork });
    const path = worktreeFor(cwd, BRANCH);
    const listed = await runCli(["clean"], { cwd });
    expect(listed.stdout).toContain("files for agent/work");
    const [, kept = ""] = listed.stdout.split(/^Kept/m);
    expect(kept).toContain(path);
    expect(kept).toContain("would be rescued first; whether the worktree is clean then is unknown");
    await runCli(["clean", "--yes"], { cwd });
    expectWritten(path);
    expect(namesIn(cwd, ".git/sanddune/checkouts")).toEqual([]);
  });
});
