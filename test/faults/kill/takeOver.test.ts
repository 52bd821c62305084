import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createWorktree, DeadRunError, run, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { runCli } from "../../cli/callCli.ts";
import { subjectsOf } from "../../cli/fixtures.ts";
import { clean, cleanInWords, ps } from "../../cli/runs/hangingRuns.ts";
import { commits } from "../../helpers/agents/agentScripts.ts";
import { killProcess } from "../../helpers/processes/killProcess.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { commandLines } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, locksOf, play, shell } from "../../security/support.ts";
import { onBranch, useHangingRuns, worktreeFor } from "../clean/deadRuns.ts";
import { useProgram } from "./killedPrograms.ts";
import type { RunsOrder } from "./runsUntilKilled.ts";

const { deadRuns } = useHangingRuns();
const HEAD = { branchStrategy: { type: "head" } } as const;

const containerIsThere = (engine: string, runId: string): boolean =>
  execFileSync(engine, ["ps", "--all", "--quiet", "--filter", `name=sanddune-${runId}`], {
    encoding: "utf8",
  }).trim() !== "";

/** Goes on writing into the worktree, whatever becomes of the process that has started it. */
const GHOST = "{ while :; do echo old >> ghost.txt; sleep 0.02; done; } &";

describeWith(["bubblewrap"], "a run on the branch of a run that died", () => {
  it("imports the dead run's commits first, reports that, and does not count them as its own", async () => {
    const script = `${commits("unfinished")}; echo open > open.txt`;
    const { cwd, runs } = await deadRuns([{ script }]);
    const [{ runId }] = runs;
    const { warnings, commits: own } = await play(
      cwd,
      [shell("git log --format=%s > seen.txt"), { commit: "Next" }],
      onBranch("b"),
    );
    expect(warnings).toEqual([
      expect.stringContaining(`Ended the sandbox that run ${runId} had left`),
      `Imported 1 commit of run ${runId}, which had died, onto b.`,
      expect.stringContaining("which has uncommitted changes"),
    ]);
    expect(own.map(({ sha }) => git(cwd, "log", "-1", "--format=%s", sha))).toEqual(["Next"]);
    expect(subjectsOf(cwd, "b")).toEqual(["Next", "unfinished", "Initial commit"]);
    expect(git(cwd, "show", "b:seen.txt")).toBe("unfinished\nInitial commit");
    expect(git(cwd, "show", "--name-only", "--format=", "b").split("\n").sort()).toEqual([
      "open.txt",
      "seen.txt",
    ]);
    expect(locksOf(cwd)).toEqual([]);

    // Once is enough.
    expect((await play(cwd, [], onBranch("b"))).warnings).toEqual([]);
    await clean(cwd, "--yes");
    expect(leftovers(cwd)).toEqual([]);
    git(cwd, "fsck", "--connectivity-only");
  });

  it("keeps what it cannot import, says where, and continues", async () => {
    const { cwd, runs } = await deadRuns([{ script: commits("lost") }]);
    const [{ runId }] = runs;
    const gitDirectory = join(cwd, ".sanddune/runs", runId, "files/git");
    writeFileSync(join(gitDirectory, "refs/heads/b"), "");
    const { warnings } = await play(cwd, [{ commit: "Next" }], onBranch("b"));
    expect(warnings.join("\n")).toContain(`It is kept in ${gitDirectory}`);
    expect(warnings.join("\n")).toContain(`sanddune rescue ${runId}`);
    await clean(cwd, "--yes");
    expect(existsSync(gitDirectory)).toBe(true);
  });

  it("finds no rest of a sandbox whose process was killed, not even during its start", async () => {
    const { cwd, runs } = await deadRuns([{ script: "setsid sleep 600 &" }]);
    const [{ runId, isAgentAlive }] = runs;
    await play(cwd, [{ commit: "Next" }], onBranch("b"));
    expect(isAgentAlive()).toBe(false);
    expect(commandLines().filter((line) => line.includes(runId))).toEqual([]);
  });
});

for (const engine of ["docker", "podman"] as const) {
  describeWith([engine, "bubblewrap"], `the ${engine} container of a run that died`, () => {
    it("is ended before another agent works in the worktree, and its commits are imported", async () => {
      const { cwd, runs } = await deadRuns([{ script: `${commits("first")}; ${GHOST}`, sandbox: engine }]);
      const [{ runId }] = runs;
      expect(containerIsThere(engine, runId)).toBe(true);
      const { warnings } = await play(
        cwd,
        [shell("cp ghost.txt before.txt; sleep 0.2; cmp ghost.txt before.txt && rm before.txt")],
        onBranch("b"),
      );
      expect(warnings.join("\n")).toContain(`${engine} container sanddune-${runId}`);
      expect(warnings.join("\n")).toContain(`Imported 1 commit of run ${runId}`);
      expect(containerIsThere(engine, runId)).toBe(false);
      expect(existsSync(join(worktreeFor(cwd), "before.txt"))).toBe(false);
      expect(subjectsOf(cwd, "b")).toEqual(["first", "Initial commit"]);
    });
  });
}

describeWith(["docker", "bubblewrap"], "a docker container that is still running after its run died", () => {
  const UNREACHABLE = "unix:///nonexistent/docker.sock";

  it("blocks its branch as long as it cannot be ended; stop ends it", async () => {
    const { cwd, runs } = await deadRuns([{ script: `${commits("first")}; ${GHOST}`, sandbox: "docker" }]);
    const [{ runId }] = runs;
    const former = process.env["DOCKER_HOST"];
    process.env["DOCKER_HOST"] = UNREACHABLE;
    try {
      const error = await failureOf(play(cwd, [{ commit: "Never" }], onBranch("b")));
      expect(error).toBeInstanceOf(DeadRunError);
      expect(error).toMatchObject({ deadRunId: runId, survivor: `its docker sandbox sanddune-${runId}` });
      expect(error.message).toContain(`docker rm --force sanddune-${runId}`);
      expect(error.message).toContain(`sanddune rescue ${runId}`);
      // Another branch is another matter.
      expect((await play(cwd, [{ commit: "Elsewhere" }], onBranch("c"))).commits).toHaveLength(1);
    } finally {
      if (former === undefined) delete process.env["DOCKER_HOST"];
      else process.env["DOCKER_HOST"] = former;
    }
    expect(subjectsOf(cwd, "b")).toEqual(["Initial commit"]);
    expect(containerIsThere("docker", runId)).toBe(true);
    expect(locksOf(cwd)).toEqual([]);

    const { stdout } = await runCli(["stop", runId], { cwd });
    expect(stdout).toContain(`docker container sanddune-${runId}`);
    expect(stdout).toContain("Imported 1 commit");
    expect(containerIsThere("docker", runId)).toBe(false);
    expect(subjectsOf(cwd, "b")).toEqual(["first", "Initial commit"]);
  });
});

describeWith(["bubblewrap"], "sanddune rescue", () => {
  it("imports onto the branch, updates the worktree, and has nothing to do the second time", async () => {
    const { cwd, runs } = await deadRuns([{ script: `${commits("one")}; ${commits("two")}` }]);
    const [{ runId }] = runs;
    const first = await runCli(["rescue", runId], { cwd });
    expect(first).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`Imported 2 commits of run ${runId}, which had died, onto b.\n`),
    });
    expect(subjectsOf(cwd, "b")).toEqual(["two", "one", "Initial commit"]);
    expect(git(worktreeFor(cwd), "status", "--porcelain")).toBe("");
    expect(await runCli(["rescue", runId], { cwd })).toMatchObject({
      exitCode: 0,
      stdout: `Run ${runId} has nothing to rescue.\n`,
    });
    await clean(cwd, "--yes");
    expect(leftovers(cwd)).toEqual([]);
    expect(subjectsOf(cwd, "b")).toEqual(["two", "one", "Initial commit"]);
  });

  it("does not touch a branch that another run uses, nor that run itself", async () => {
    const { cwd, runs } = await deadRuns([{ script: commits("one") }]);
    const [{ runId }] = runs;
    await using worktree = await createWorktree({ cwd, ...onBranch("b") });
    expect(worktree.warnings.join()).toContain("Imported 1 commit");
    const { exitCode, stderr } = await runCli(["rescue", runId], { cwd });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("Branch b is in use by");
    expect((await runCli(["rescue", worktree.runId], { cwd })).stderr).toContain("is still running");
  });

  it("of a run with merge-to-head leaves its commits on its own branch", async () => {
    const { cwd, runs } = await deadRuns([
      { script: commits("one"), branchStrategy: { type: "merge-to-head" } },
    ]);
    const [{ runId }] = runs;
    const { stdout } = await runCli(["rescue", runId, "--json"], { cwd });
    expect(JSON.parse(stdout)).toMatchObject([{ runId, branch: `sanddune/${runId}`, commits: 1 }]);
    expect(subjectsOf(cwd, `sanddune/${runId}`)).toEqual(["one", "Initial commit"]);
    expect(subjectsOf(cwd, "main")).toEqual(["Initial commit"]);
  });
});

describeWith(["bubblewrap"], "a run in the user's checkout that died", () => {
  /** A repository whose settings run a program as soon as git looks at its files. */
  const armed = (canary: string) =>
    [
      "git init --quiet sub && cd sub",
      `printf '[core]\\n\\tfsmonitor = touch ${canary}\\n[filter "x"]\\n\\tsmudge = touch ${canary}\\n\\tclean = touch ${canary}\\n' >> .git/config`,
      "echo '* filter=x' > .gitattributes; echo a > a.txt",
      "git -c core.fsmonitor=false -c filter.x.clean=cat add . && git -c core.fsmonitor=false commit --quiet -m a",
      "cd ..",
    ].join("\n");

  /** The user has a repository of their own in the checkout. */
  const userRepository = (): string => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "mine"));
    git(join(cwd, "mine"), "init", "--quiet");
    return cwd;
  };

  const ENDINGS: [string, (cwd: string, runId: string) => Promise<string>][] = [
    ["the next run", async (cwd) => (await play(cwd, [], HEAD)).warnings.join("\n")],
    ["clean --yes", (cwd) => cleanInWords(cwd)],
    ["rescue", async (cwd, runId) => (await runCli(["rescue", runId], { cwd })).stdout],
  ];

  it.each(ENDINGS)(
    "leaves no repository that could run programs: %s disarms it, and leaves the user's own alone",
    async (_, end) => {
      const cwd = userRepository();
      const canary = join(temporaryDirectory(), "canary");
      const { runs } = await deadRuns([{ script: armed(canary), ...HEAD }], cwd);
      const [{ runId }] = runs;
      const sub = join(cwd, "sub");
      const options = { agent: scripted([]), sandbox: bubblewrap(), prompt: "x", cwd: sub };
      await expect(run(options)).rejects.toMatchObject({
        name: "UntrustedRepositoryError",
        message: expect.stringContaining(`sanddune rescue ${runId} --cwd ${cwd}`),
      });
      expect((await runCli(["ps"], { cwd: sub })).stderr).toContain("may have made");
      expect(await end(cwd, runId)).toContain('The agent made a git repository in "sub"');
      expect(existsSync(join(sub, ".git"))).toBe(false);
      expect(existsSync(join(cwd, "mine/.git/config"))).toBe(true);
      await run(options);
      expect(existsSync(canary)).toBe(false);
      expect(readFileSync(join(sub, "a.txt"), "utf8")).toBe("a\n");
    },
  );

  it("has its commits on the user's branch after the next run, and in the index", async () => {
    const { cwd } = await deadRuns([{ script: `${commits("one")}; echo open > open.txt`, ...HEAD }]);
    const { warnings } = await play(cwd, [], HEAD);
    expect(warnings.join()).toContain("Imported 1 commit");
    expect(subjectsOf(cwd, "main")).toEqual(["one", "Initial commit"]);
    expect(git(cwd, "status", "--porcelain")).toBe("?? open.txt");
  });

  it("is recovered by the next run in that checkout, on any branch", async () => {
    const { cwd } = await deadRuns([{ script: commits("one"), ...HEAD }]);
    git(cwd, "switch", "--quiet", "--create", "other");
    const { warnings } = await play(cwd, [], HEAD);
    expect(warnings.join()).toContain("Imported 1 commit");
    expect(subjectsOf(cwd, "main")).toEqual(["one", "Initial commit"]);
    expect(subjectsOf(cwd, "other")).toEqual(["Initial commit"]);
  });
});

describeWith(["bubblewrap"], "a chain of directories longer than a path may be", () => {
  const name = "d".repeat(200);
  const chain = `for i in $(seq 30); do mkdir ${name} && cd ${name} || exit 1; done`;

  it("does not prevent the removal of a worktree, nor the reuse of its branch", async () => {
    const cwd = temporaryRepository();
    const { warnings } = await play(cwd, [shell(chain)], onBranch("b"));
    expect(warnings).toEqual([]);
    expect(leftovers(cwd)).toEqual([]);
    expect((await play(cwd, [{ commit: "Next" }], onBranch("b"))).commits).toHaveLength(1);
  });

  it("is removed by clean, even if git no longer lists the worktree", async () => {
    const { cwd } = await deadRuns([{ script: `(${chain})` }, { script: `(${chain})`, ...onBranch("c") }]);
    // As `git worktree remove` leaves it.
    execFileSync("sh", ["-c", `git worktree remove --force --force ${worktreeFor(cwd, "c")}; true`], {
      cwd,
      stdio: "ignore",
    });
    expect(existsSync(join(worktreeFor(cwd, "c"), name))).toBe(true);
    expect(git(cwd, "worktree", "list")).not.toContain(worktreeFor(cwd, "c"));
    await clean(cwd, "--yes");
    expect(leftovers(cwd)).toEqual([]);
  });
});

const descendantsOf = (pid: number): number[] => {
  const children = execFileSync("ps", ["-e", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/ +/).map(Number))
    .flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
};

describeWith(["bubblewrap"], "SIGKILL of everything while git creates the worktree", () => {
  const program = useProgram("runsUntilKilled.ts");

  it("leaves an unfinished one, which the next run creates again", async () => {
    const cwd = temporaryRepository();
    const marks = temporaryDirectory();
    for (let number = 10; number < 40; number++) writeFileSync(join(cwd, `${number}.txt`), `${number}\n`);
    writeFileSync(join(cwd, ".gitattributes"), "20.txt filter=slow\n");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Files");
    // The user's own settings: git stops in the middle of its work.
    git(cwd, "config", "filter.slow.smudge", `touch ${marks}/reached; exec sleep 600`);
    const order: RunsOrder = {
      cwd,
      marks,
      image: "",
      runs: [{ name: "run", sandbox: "bubblewrap", ...onBranch("b"), steps: [{ commit: "Never" }] }],
    };
    const child = spawn(process.execPath, [program(), JSON.stringify(order)], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    await waitFor(() => existsSync(join(marks, "reached")));
    const everything = [child.pid ?? 0, ...descendantsOf(child.pid ?? 0)];
    for (const pid of everything) killProcess(pid);
    await once(child, "exit");
    git(cwd, "config", "--unset", "filter.slow.smudge");
    const left = readdirSync(worktreeFor(cwd));
    expect(left).toContain(".git");
    expect(left.length).toBeLessThan(30);
    expect(await ps(cwd)).toMatchObject([{ state: "dead" }]);

    const { commits: own, warnings } = await play(
      cwd,
      [shell("git add -A && git commit --quiet --allow-empty -m All")],
      onBranch("b"),
    );
    expect(warnings.join()).toContain("it was created again");
    expect(own).toHaveLength(1);
    expect(git(cwd, "diff", "--name-status", "main", "b")).toBe("");
  });
});
