import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { BranchInUseError, InternalError, SandboxLostError, SandduneError } from "../../src/index.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { bundle } from "../helpers/bundle.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, isRoot, TEST_IMAGE } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import {
  failureOf,
  journalsOf,
  locksOf,
  meetingPoint,
  play,
  STRATEGIES,
  shell,
  userRefs,
} from "../security/support.ts";

const COMMIT = { commit: "Before the crash", files: { "a.txt": "a\n" } } as const;

const startedProcesses = new Set<ChildProcess>();
afterEach(() => {
  for (const child of startedProcesses) child.kill("SIGKILL");
  startedProcesses.clear();
});

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));

/** The journal of the only run so far. */
const journal = (cwd: string): string => journalsOf(cwd).join("");

/** Starts a run in a process of its own, kills it once the condition holds, and sees that it is dead. */
const killWhen = async (
  order: { cwd: string } & Record<string, unknown>,
  condition: () => boolean,
): Promise<void> => {
  const child = spawn(
    process.execPath,
    [bundle(join(import.meta.dirname, "runUntilKilled.ts")), JSON.stringify(order)],
    {
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  startedProcesses.add(child);
  await waitFor(() => condition() || child.exitCode !== null);
  child.kill("SIGKILL");
  await ended(child);
};

/** Commits of every repository that the run may have left: the host's own, and the sandbox's git directory. */
const allSubjects = (cwd: string): string[] => {
  const runs = join(cwd, ".sanddune/runs");
  const directories = [
    join(cwd, ".git"),
    ...readdirSync(runs)
      .map((id) => join(runs, id, "files/git"))
      .filter((path) => existsSync(path)),
  ];
  return directories.flatMap((directory) => {
    const heads = readdirSync(join(directory, "refs/heads"), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile(),
    );
    const objects = [join(directory, "objects"), join(cwd, ".git/objects")].join(":");
    return heads.map(
      (head) =>
        execFileSync(
          "git",
          ["cat-file", "commit", readFileSync(join(head.parentPath, head.name), "utf8").trim()],
          {
            cwd,
            encoding: "utf8",
            env: { ...process.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects },
          },
        )
          .trimEnd()
          .split("\n")
          .at(-1) as string,
    );
  });
};

describeWith(["bubblewrap"], "SIGKILL of the process that runs a run", () => {
  const hang = [COMMIT, shell("echo open > open.txt; touch reached; sleep 60")];
  const worktreeHas = (cwd: string, name: string) => {
    const worktrees = join(cwd, ".sanddune/worktrees");
    return (
      existsSync(worktrees) &&
      readdirSync(worktrees).some((entry) => existsSync(join(worktrees, entry, name)))
    );
  };
  const moments: [string, (cwd: string) => boolean][] = [
    ["when it had only begun", (cwd) => journal(cwd).includes('"begun"')],
    ["while it made the worktree", (cwd) => journal(cwd).includes('"what":"worktree"')],
    ["when the worktree was there", (cwd) => journal(cwd).includes('"phase":"worktree"')],
    ["while it made the sandbox", (cwd) => journal(cwd).includes('"what":"sandbox"')],
    ["while the agent worked", (cwd) => worktreeHas(cwd, "reached")],
  ];

  it.each(moments)(
    "%s: the next run on the branch takes over, and nothing that was made is lost",
    async (_, condition) => {
      const cwd = temporaryRepository();
      await killWhen({ cwd, sandbox: "bubblewrap", branchStrategy: STRATEGIES.branch, steps: hang }, () =>
        condition(cwd),
      );
      const hadCommitted = worktreeHas(cwd, "reached");
      if (hadCommitted) expect(allSubjects(cwd)).toContain("Before the crash");
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

  it("leaves no process of the agent's behind", async () => {
    const cwd = temporaryRepository();
    const mark = `sleep 5${process.pid}`;
    const steps = [shell(`touch reached; setsid ${mark} & ${mark}`)];
    await killWhen({ cwd, sandbox: "bubblewrap", branchStrategy: STRATEGIES.branch, steps }, () =>
      worktreeHas(cwd, "reached"),
    );
    await waitFor(
      () =>
        execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
          .split("\n")
          .every((line) => line !== mark),
      10_000,
    );
  });
});

describe("the lock of a branch", () => {
  const lockFile = (cwd: string): string => {
    const directory = join(cwd, ".git/sanddune/locks");
    return join(directory, readdirSync(directory).find((name) => name.endsWith(".lock")) as string);
  };
  /** What a live run writes into its lock; the run itself is over after that. */
  const capturedLock = async (cwd: string): Promise<{ path: string; owner: Record<string, unknown> }> => {
    const { sandboxes, wait, meet } = meetingPoint();
    let captured: { path: string; owner: Record<string, unknown> } | undefined;
    const running = play(cwd, [wait], { branchStrategy: STRATEGIES.branch, sandbox: sandboxes.bubblewrap() });
    await meet(() => {
      const path = lockFile(cwd);
      captured = { path, owner: JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown> };
    });
    await running;
    return captured as NonNullable<typeof captured>;
  };

  it.each([
    ["a recycled pid", { startTime: "1" }],
    ["a pid that is not running", { pid: 4_194_303 }],
    ["another boot of this machine", { bootId: "00000000-0000-0000-0000-000000000000" }],
  ])("of %s is taken over", async (_, change) => {
    const cwd = temporaryRepository();
    const { path, owner } = await capturedLock(cwd);
    writeFileSync(path, JSON.stringify({ ...owner, ...change }));
    const result = await play(cwd, [COMMIT], { branchStrategy: STRATEGIES.branch });
    expect(result.commits).toHaveLength(1);
    expect(locksOf(cwd)).toEqual([]);
  });

  it.each([
    ["a process that runs", {}],
    ["another machine", { host: `not-${hostname()}`, bootId: "x" }],
    ["another pid namespace", { pidNamespace: "pid:[1]", pid: 4_194_303 }],
  ])("of %s is respected", async (_, change) => {
    const cwd = temporaryRepository();
    const { path, owner } = await capturedLock(cwd);
    const content = JSON.stringify({ ...owner, ...change });
    writeFileSync(path, content);
    expect(await failureOf(play(cwd, [COMMIT], { branchStrategy: STRATEGIES.branch }))).toBeInstanceOf(
      BranchInUseError,
    );
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  it.each(["", "{", '{"pid":', "null", "[]", "{}"])(
    "that is torn (%j) ends in a plain answer that names the file, or is taken over",
    async (content) => {
      const cwd = temporaryRepository();
      const { path } = await capturedLock(cwd);
      writeFileSync(path, content);
      const outcome = await play(cwd, [COMMIT], { branchStrategy: STRATEGIES.branch }).catch(
        (error: unknown) => error,
      );
      if (!(outcome instanceof Error)) return;
      expect(outcome).toBeInstanceOf(BranchInUseError);
      expect(outcome.message).toContain(path);
    },
  );
});

it("a journal whose last record is torn does not disturb the next run", async () => {
  const cwd = temporaryRepository();
  const first = await play(cwd, [COMMIT], { branchStrategy: STRATEGIES.branch });
  appendFileSync(join(cwd, ".sanddune/runs", first.runId, "journal.jsonl"), '{"type":"en');
  expect((await play(cwd, [{ commit: "Next" }], { branchStrategy: STRATEGIES.branch })).commits).toHaveLength(
    1,
  );
});

const mountable = (() => {
  if (!isRoot) return "only root can mount";
  try {
    execFileSync("unshare", ["--mount", "sh", "-c", "mount -t tmpfs none /mnt"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "this machine does not let root mount a tmpfs";
  }
})();

const describeMounts = mountable === undefined ? describe : describe.skip;
if (mountable !== undefined) console.warn(`Skipped: full and read-only disks. ${mountable}`);

describeMounts("a repository on a disk that", () => {
  const mounted: string[] = [];
  afterEach(() => {
    for (const path of mounted.splice(0)) execFileSync("umount", ["--lazy", path]);
  });
  const repositoryOnDisk = (options: string): string => {
    const path = temporaryDirectory();
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "none", path]);
    mounted.push(path);
    const cwd = join(path, "repo");
    mkdirSync(cwd);
    git(cwd, "init", "--quiet", "--initial-branch=main");
    git(cwd, "config", "user.name", "Dev");
    git(cwd, "config", "user.email", "dev@example.com");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Initial commit");
    return cwd;
  };

  it.each(["head", "merge-to-head", "branch"] as const)(
    "is read-only: %s fails with a typed error that is not called a bug",
    async (strategy) => {
      const cwd = repositoryOnDisk("size=8m");
      execFileSync("mount", ["-o", "remount,ro", join(cwd, "..")]);
      const error = await failureOf(play(cwd, [COMMIT], { branchStrategy: STRATEGIES[strategy] }));
      expect(error).toBeInstanceOf(SandduneError);
      expect(error).not.toBeInstanceOf(InternalError);
      expect(error.message).toMatch(/EROFS|read-only/i);
    },
  );

  it.each(["head", "merge-to-head", "branch"] as const)(
    "is full from the start: %s fails with a typed error, no ref moved",
    async (strategy) => {
      const cwd = repositoryOnDisk("size=2m");
      const before = userRefs(cwd);
      try {
        execFileSync("dd", ["if=/dev/zero", "of=../fill", "bs=4k"], { cwd, stdio: "ignore" });
      } catch {
        // It ends when the disk is full, which is its purpose.
      }
      const error = await failureOf(play(cwd, [COMMIT], { branchStrategy: STRATEGIES[strategy] }));
      expect(error).toBeInstanceOf(SandduneError);
      expect(error).not.toBeInstanceOf(InternalError);
      expect(userRefs(cwd)).toBe(before);
    },
  );

  it("is filled by the agent: the run fails or warns, no ref is half-moved, and the commits made before are kept", async () => {
    const cwd = repositoryOnDisk("size=4m");
    const ending = await play(cwd, [COMMIT, shell("dd if=/dev/zero of=fill bs=4k 2>/dev/null")], {
      branchStrategy: STRATEGIES.branch,
    }).catch((error: unknown) => error as SandduneError);
    const subjects = git(cwd, "log", "--format=%s", "agent/work").split("\n");
    if (ending instanceof Error) {
      expect(ending).toBeInstanceOf(SandduneError);
      expect(ending).not.toBeInstanceOf(InternalError);
    }
    expect([...subjects, ...allSubjects(cwd)]).toContain("Before the crash");
    const kept = ending.preservedWorktreePath as string;
    expect(existsSync(join(kept, "fill"))).toBe(true);
    git(cwd, "fsck", "--connectivity-only");
  });
});

describeWith(["docker"], "a container that is lost while the agent works", () => {
  const containerOf = (cwd: string): string =>
    /"what":"sandbox","name":"([^"]+)"/.exec(journal(cwd))?.[1] as string;

  it.each([
    ["is killed", (name: string) => execFileSync("docker", ["kill", name], { stdio: "ignore" })],
    ["is removed", (name: string) => execFileSync("docker", ["rm", "--force", name], { stdio: "ignore" })],
    [
      "loses its first process",
      (name: string) =>
        execFileSync("sh", ["-c", `kill -9 $(docker inspect --format '{{.State.Pid}}' ${name})`], {
          stdio: "ignore",
        }),
    ],
  ])("and %s is a lost sandbox, never the agent's failure, and its commits come home", async (_, lose) => {
    const cwd = temporaryRepository();
    const running = failureOf(
      play(cwd, [COMMIT, shell("touch reached; sleep 60")], {
        branchStrategy: STRATEGIES.branch,
        sandbox: docker({ image: TEST_IMAGE }),
      }),
    );
    const worktrees = join(cwd, ".sanddune/worktrees");
    await waitFor(
      () =>
        existsSync(worktrees) &&
        readdirSync(worktrees).some((entry) => existsSync(join(worktrees, entry, "reached"))),
    );
    lose(containerOf(cwd));
    const error = await running;
    expect(error).toBeInstanceOf(SandboxLostError);
    expect(error.commits).toHaveLength(1);
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Before the crash");
    const left = execFileSync("docker", ["ps", "--all", "--quiet", "--filter", `name=${containerOf(cwd)}`], {
      encoding: "utf8",
    });
    expect(left).toBe("");
  });
});
