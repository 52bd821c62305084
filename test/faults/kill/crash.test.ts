import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, type TestContext } from "vitest";
import {
  BranchInUseError,
  type HostFileError,
  InternalError,
  SandboxLostError,
  SandduneError,
} from "../../../src/index.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { killProcess } from "../../helpers/processes/killProcess.ts";
import { commandLines, processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import {
  failureOf,
  journalsOf,
  locksOf,
  play,
  SANDBOXES,
  STRATEGIES,
  shell,
  userRefs,
} from "../../security/support.ts";
import { allSubjects } from "../clean/leftGit.ts";
import { worktreeIn } from "../run/worktrees.ts";
import { killWhen, useProgram } from "./killedPrograms.ts";
import type { RunsOrder } from "./runsUntilKilled.ts";

const COMMIT = { commit: "Before the crash", files: { "a.txt": "a\n" } } as const;

/** The journal of the only run so far. */
const journal = (cwd: string): string => journalsOf(cwd).join("");

/** The git processes that a session asks again and again. */
const waitingGits = (cwd: string): number[] => processesWith(`--git-dir=${join(cwd, ".git")}\0`);

describeWith(["bubblewrap"], "SIGKILL of the process that runs a run", () => {
  const program = useProgram("runsUntilKilled.ts");
  const MOMENTS: [string, (cwd: string, marks: string) => boolean][] = [
    ["when it had only begun", (cwd) => journal(cwd).includes('"begun"')],
    ["while it made the worktree", (cwd) => journal(cwd).includes('"what":"worktree"')],
    ["while it made the sandbox", (cwd) => journal(cwd).includes('"what":"sandbox"')],
    [
      "while the agent worked",
      (cwd, marks) => existsSync(join(marks, "reached")) && waitingGits(cwd).length > 0,
    ],
  ];

  it.each(MOMENTS)(
    "%s: the next run on the branch takes over, nothing that was made is lost, and no process is left",
    async (_, condition) => {
      const cwd = temporaryRepository();
      const marks = temporaryDirectory();
      const sleep = `sleep 5${process.pid}`;
      const hang = shell(`echo open > open.txt; setsid ${sleep} & touch ${marks}/reached; ${sleep}`);
      const run = { name: "run", sandbox: "bubblewrap", branchStrategy: STRATEGIES.branch } as const;
      const order: RunsOrder = { cwd, marks, image: "", runs: [{ ...run, steps: [COMMIT, hang] }] };
      await killWhen(program(), { order, when: () => condition(cwd, marks) });
      const hadCommitted = existsSync(join(marks, "reached"));
      if (hadCommitted) expect(allSubjects(cwd)).toContain("Before the crash");
      await waitFor(() => !commandLines().includes(`${sleep.replace(" ", "\0")}\0`));
      await waitFor(() => waitingGits(cwd).length === 0);

      const next = await play(cwd, [{ commit: "After the crash" }], { branchStrategy: STRATEGIES.branch });
      expect(next.commits.length).toBeGreaterThanOrEqual(1);
      expect(git(cwd, "log", "-1", "--format=%s", "agent/work")).toBe("After the crash");
      if (hadCommitted) {
        expect(git(cwd, "show", "agent/work:open.txt")).toBe("open");
        expect(git(cwd, "show", "agent/work:a.txt")).toBe("a");
        expect(allSubjects(cwd)).toContain("Before the crash");
      }
      expect(locksOf(cwd)).toEqual([]);
      expect(git(cwd, "status", "--porcelain")).toBe("");
      git(cwd, "fsck", "--connectivity-only");
    },
  );
});

describe("the lock of a branch", () => {
  /** What a live session writes into its lock; the session itself is over after that. */
  const capturedLock = async (cwd: string): Promise<{ path: string; owner: object }> => {
    await using _ = await worktreeIn(cwd);
    const directory = join(cwd, ".git/sanddune/locks");
    const [name] = readdirSync(directory).filter((entry) => entry.endsWith(".lock"));
    const path = join(directory, name as string);
    return { path, owner: JSON.parse(readFileSync(path, "utf8")) };
  };

  it("of a process that is gone is taken over, even if its pid was reused", async () => {
    const cwd = temporaryRepository();
    const { path, owner } = await capturedLock(cwd);
    for (const change of [{ startTime: "1" }, { bootId: "another" }]) {
      writeFileSync(path, JSON.stringify({ ...owner, ...change }));
      const worktree = await worktreeIn(cwd);
      await worktree.close();
      expect(locksOf(cwd)).toEqual([]);
    }
  });

  it("is respected and named if its process runs, or may run elsewhere, or if the lock is torn", async () => {
    const cwd = temporaryRepository();
    const { path, owner } = await capturedLock(cwd);
    const changes = [{}, { host: `not-${hostname()}`, bootId: "x" }];
    const torn = ["", "{}"];
    for (const content of [...changes.map((change) => JSON.stringify({ ...owner, ...change })), ...torn]) {
      writeFileSync(path, content);
      const error = await worktreeIn(cwd).catch((reason: unknown) => reason);
      expect(error, content).toBeInstanceOf(BranchInUseError);
      expect((error as Error).message).toContain(path);
      expect(readFileSync(path, "utf8")).toBe(content);
    }
  });
});

it("a journal with a torn last line does not disturb the next run", async () => {
  const cwd = temporaryRepository();
  const worktree = await worktreeIn(cwd);
  await worktree.close();
  const path = join(cwd, ".sanddune/runs", worktree.runId, "journal.jsonl");
  truncateSync(path, statSync(path).size - 10);
  const options = { branchStrategy: STRATEGIES.branch, sandbox: SANDBOXES.isolated() };
  expect((await play(cwd, [{ commit: "Next" }], options)).commits).toHaveLength(1);
});

const repositoryOnDisk = (context: TestContext, options: string): string => {
  const path = temporaryDirectory();
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "none", path]);
  if (status !== 0) context.skip("this machine does not let root mount a tmpfs");
  onTestFinished(() => void execFileSync("umount", ["--lazy", path]));
  const cwd = join(path, "repo");
  git(path, "clone", "--quiet", temporaryRepository(), cwd);
  git(cwd, "config", "user.name", "Dev");
  git(cwd, "config", "user.email", "dev@example.com");
  return cwd;
};

describeWith(["bubblewrap", "root"], "a repository on a disk that", () => {
  const expectOurs = (error: unknown): void => {
    expect(error).toBeInstanceOf(SandduneError);
    expect(error).not.toBeInstanceOf(InternalError);
  };

  it.for(["head", "branch"] as const)(
    "is read-only: %s fails with a typed error that is not called a bug",
    async (strategy, context) => {
      const cwd = repositoryOnDisk(context, "size=8m");
      execFileSync("mount", ["-o", "remount,ro", join(cwd, "..")]);
      const error = await failureOf(play(cwd, [COMMIT], { branchStrategy: STRATEGIES[strategy] }));
      expectOurs(error);
      expect(error.message).toMatch(/EROFS|read-only/i);
    },
  );

  it.for(["head", "branch"] as const)(
    "is full from the start: %s fails with a typed error, no ref moved",
    async (strategy, context) => {
      const cwd = repositoryOnDisk(context, "size=2m");
      const before = userRefs(cwd);
      expect(spawnSync("dd", ["if=/dev/zero", "of=../fill", "bs=4k"], { cwd }).status).not.toBe(0);
      expectOurs(await failureOf(play(cwd, [COMMIT], { branchStrategy: STRATEGIES[strategy] })));
      expect(userRefs(cwd)).toBe(before);
    },
  );

  it("is filled by the agent: the run fails or warns, no ref is half-moved, and the commits made before are kept", async (context) => {
    const cwd = repositoryOnDisk(context, "size=4m");
    const ending = await play(cwd, [COMMIT, shell("dd if=/dev/zero of=fill bs=4k 2>/dev/null")], {
      branchStrategy: STRATEGIES.branch,
    }).catch((error: unknown) => error as SandduneError);
    if (ending instanceof Error) expectOurs(ending);
    expect(allSubjects(cwd)).toContain("Before the crash");
    const kept = ending.preservedWorktreePath as string;
    expect(existsSync(join(kept, "fill"))).toBe(true);
    git(cwd, "fsck", "--connectivity-only");
  });
});

describeWith(["bubblewrap", "root"], "a full disk", () => {
  it.for([
    ["copied from the sandbox", 2_300_000, /\.bundle$/],
    ["taken over by git", 3_400_000, /repo$/],
  ] as const)(
    "while the commits are %s is a typed error that says where, and they are kept",
    async ([, room, place], context) => {
      const cwd = repositoryOnDisk(context, "size=12m");
      const fill = `head -c 1500000 /dev/urandom > large.bin; git add large.bin; git commit -q -m Large
head -c ${room} /dev/urandom > room; dd if=/dev/zero of=fill bs=4k 2>/dev/null; rm room`;
      const error = await failureOf(play(cwd, [shell(fill)], { branchStrategy: STRATEGIES.branch }));
      expect(error).toMatchObject({ name: "HostFileError", errorCode: "ENOSPC" });
      expect((error as HostFileError).path).toMatch(place);
      expect(error.message).toContain("Free some disk space");
      expect(allSubjects(cwd)).toContain("Large");
    },
  );
});

describeWith(["docker", "root"], "a container that is lost while the agent works", () => {
  it("because its first process is killed is a lost sandbox, never the agent's failure, and its commits are imported", async () => {
    const cwd = temporaryRepository();
    const marks = temporaryDirectory();
    const mounts = [{ hostPath: marks, sandboxPath: marks }];
    const running = failureOf(
      play(cwd, [COMMIT, shell(`touch ${marks}/reached; sleep 60`)], {
        branchStrategy: STRATEGIES.branch,
        sandbox: docker({ imageName: TEST_IMAGE, mounts }),
      }),
    );
    await waitFor(() => existsSync(join(marks, "reached")));
    const container = /"what":"sandbox","name":"([^"]+)"/.exec(journal(cwd))?.[1] as string;
    // Of all that ends a container, only this is done without a word to the daemon.
    const inspect = ["inspect", "--format", "{{.State.Pid}}", container];
    killProcess(execFileSync("docker", inspect, { encoding: "utf8" }));
    const error = await running;
    expect(error).toBeInstanceOf(SandboxLostError);
    expect(error.commits).toHaveLength(1);
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Before the crash");
    const ps = ["ps", "--all", "--quiet", "--filter", `name=${container}`];
    expect(execFileSync("docker", ps, { encoding: "utf8" })).toBe("");
  });
});
