import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, onTestFinished } from "vitest";
import {
  createSandbox,
  createWorktree,
  InternalError,
  SandduneError,
  type ScriptedStep,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { bundle } from "../helpers/bundle.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import {
  asUser,
  BRANCH,
  canaries,
  EVERY_DAY,
  ending,
  openSandbox,
  playIn,
  subjects,
} from "../security/lasting.ts";
import { journalsOf, locksOf, shell, worktreesOf } from "../security/support.ts";
import type { SandboxOrder } from "./sandboxUntilKilled.ts";

const started = new Set<ChildProcess>();
afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
  started.clear();
});

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));

/** Works in a sandbox that lasts, in a process of its own, and kills that as soon as the condition holds. */
const killWhen = async (
  order: Omit<SandboxOrder, "branch" | "image" | "marks">,
  condition: (reached: (mark: string) => boolean) => boolean,
): Promise<void> => {
  const marks = temporaryDirectory();
  const full: SandboxOrder = { ...order, branch: BRANCH, image: TEST_IMAGE, marks };
  const program = bundle(join(import.meta.dirname, "sandboxUntilKilled.ts"));
  const child = spawn(process.execPath, [program, JSON.stringify(full)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  started.add(child);
  await waitFor(() => condition((mark) => existsSync(join(marks, mark))) || child.exitCode !== null);
  child.kill("SIGKILL");
  await ended(child);
};

const FIRST: ScriptedStep = { commit: "First", files: { "first.txt": "1\n" } };
const journal = (cwd: string): string => journalsOf(cwd).join("");

/** Subjects of all commits on the host's branches, and in the git directories of sandboxes that were left. */
const allSubjects = (cwd: string): string[] => {
  const runs = join(cwd, ".sanddune/runs");
  const left = readdirSync(runs)
    .map((run) => join(runs, run, "files/git"))
    .filter((path) => existsSync(join(path, "HEAD")));
  const objects = [join(cwd, ".git"), ...left].map((path) => join(path, "objects")).join(":");
  const logOf = (directory: string) =>
    execFileSync("git", ["--git-dir", directory, "log", "--all", "--format=%s"], {
      encoding: "utf8",
      env: { ...process.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects },
    }).split("\n");
  return [join(cwd, ".git"), ...left].flatMap(logOf);
};

describeWith(["bubblewrap"], "SIGKILL of the process that has a sandbox open", () => {
  const hang = [{ commit: "Second" }, shell("echo open > open.txt; touch reached; sleep 60")] as const;
  const worktreeHas = (cwd: string, name: string) =>
    worktreesOf(cwd).some((path) => existsSync(join(path, name)));
  const MOMENTS: [string, boolean, (cwd: string, reached: (mark: string) => boolean) => boolean][] = [
    ["while it opened", false, (cwd) => journal(cwd).includes('"what":"sandbox"')],
    ["while it was idle", false, (_, reached) => reached("idle")],
    ["while a run went on", false, (cwd) => worktreeHas(cwd, "reached")],
    ["while it was closed", true, (_, reached) => reached("idle")],
  ];

  it.each(MOMENTS)(
    "%s: nothing is lost, the journal tells what is left, and the next sandbox on the branch works",
    async (moment, closes, condition) => {
      const cwd = temporaryRepository();
      const runs = moment === "while a run went on" ? [[FIRST], hang] : [[FIRST]];
      await killWhen({ cwd, provider: "bubblewrap", runs, closes }, (reached) => condition(cwd, reached));
      const hadCommitted = moment !== "while it opened";
      const wasAtWork = worktreeHas(cwd, "reached");
      if (hadCommitted) expect(subjects(cwd, BRANCH)).toContain("First");
      if (wasAtWork) expect(allSubjects(cwd)).toContain("Second");
      expect(journal(cwd)).toMatch(/"type":"creating","what":"worktree","name":"[^"]+"/);
      expect(journal(cwd)).toMatch(/"type":"creating","what":"sandbox","name":"sanddune-[^"]+"/);
      const next = await openSandbox(cwd);
      const { commits } = await playIn(next, { commit: "After the crash" });
      expect(commits.length).toBeGreaterThanOrEqual(1);
      await next.close();
      expect(subjects(cwd, BRANCH)[0]).toBe("After the crash");
      if (wasAtWork) {
        expect(git(cwd, "show", `${BRANCH}:open.txt`)).toBe("open");
        expect(allSubjects(cwd)).toContain("Second");
      }
      expect(locksOf(cwd)).toEqual([]);
      git(cwd, "fsck", "--connectivity-only");
    },
  );

  it("leaves no repository of the agent's armed, for whoever opens the worktree next", async () => {
    const cwd = temporaryRepository();
    const { fire, fired } = canaries();
    const plant = `git init -q nested; git -C nested config core.fsmonitor '${fire("nested")}; :'; touch reached; sleep 60`;
    await killWhen({ cwd, provider: "bubblewrap", runs: [[FIRST], [shell(plant)]], closes: false }, () =>
      worktreeHas(cwd, "reached"),
    );
    const worktree = await createWorktree({ branchStrategy: { type: "branch", branch: BRANCH }, cwd });
    execFileSync("git", ["-C", join(worktree.worktreePath, "nested"), "status"], { stdio: "ignore" });
    await worktree.close();
    expect(fired()).toEqual([]);
  });
});

describeWith(["docker"], "SIGKILL of the process that has a container open", () => {
  const containerOf = (cwd: string): string =>
    /"what":"sandbox","name":"([^"]+)"/.exec(journal(cwd))?.[1] as string;
  const removeContainer = (cwd: string) =>
    execFileSync("docker", ["rm", "--force", containerOf(cwd)], { stdio: "ignore" });
  const order = { provider: "docker", closes: false } as const;

  it("while it was idle: the journal names the container, and the next sandbox on the branch works", async () => {
    const cwd = temporaryRepository();
    await killWhen({ ...order, cwd, runs: [[FIRST]] }, (reached) => reached("idle"));
    onTestFinished(() => void removeContainer(cwd));
    const { commits } = await playIn(await openSandbox(cwd), { commit: "After the crash" });
    expect(commits).toHaveLength(1);
    expect(subjects(cwd, BRANCH)).toEqual(["After the crash", "First", "Initial commit"]);
  });

  it("does not let what goes on in the container run for the user, when the next sandbox has the worktree", async () => {
    const cwd = temporaryRepository();
    const { fire, fired } = canaries();
    const plant = shell(
      "git init -q sub; git -C sub -c user.name=E -c user.email=e@example.com commit -q --allow-empty -m x",
      `git -C sub config core.fsmonitor '${fire("sub")}; :'; cp -r sub/.git /tmp/keep`,
      "git add sub; git commit -q -m Sub",
      "setsid nohup sh -c 'while true; do [ -e sub/.git ] || cp -r /tmp/keep sub/.git; sleep 0.02; done' >/dev/null 2>&1 &",
    );
    await killWhen({ ...order, cwd, runs: [[plant]] }, (reached) => reached("idle"));
    onTestFinished(() => void removeContainer(cwd));
    const next = await openSandbox(cwd);
    await playIn(next, { commit: "After the crash" });
    await next.close();
    for (const path of worktreesOf(cwd)) {
      // What is left running has all the time that it needs.
      await waitFor(() => path === cwd || existsSync(join(path, "sub/.git"))).catch(() => undefined);
      asUser(path, EVERY_DAY);
    }
    expect(fired()).toEqual([]);
  });
});

const fillUp = (directory: string): void => {
  try {
    execFileSync("dd", ["if=/dev/zero", `of=${directory}/fill`, "bs=4k"], { stdio: "ignore" });
  } catch {
    // It ends when the disk is full, which is its purpose.
  }
};

/** A directory on a small disk of its own; `undefined` where none can be made. */
const smallDisk = (): string | undefined => {
  const directory = temporaryDirectory();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "none", directory], { stdio: "ignore" });
    onTestFinished(() => void execFileSync("umount", ["--lazy", directory]));
    return directory;
  } catch {
    return undefined;
  }
};

it("a disk that is full while a sandbox is open gives errors of ours, close() ends, and the work before is there", async (context) => {
  const disk = smallDisk();
  if (disk === undefined) return context.skip("this machine does not let the user mount a tmpfs");
  const cwd = join(disk, "repo");
  git(disk, "clone", "--quiet", temporaryRepository(), cwd);
  const sandbox = await createSandbox({ branch: BRANCH, sandbox: bubblewrap(), cwd });
  await playIn(sandbox, FIRST);
  fillUp(disk);
  const failed = await ending(playIn(sandbox, { commit: "Second" }));
  expect(failed).toBeInstanceOf(SandduneError);
  expect(failed).not.toBeInstanceOf(InternalError);
  expect(await ending(sandbox.close())).toMatchObject({ warnings: expect.any(Array) });
  rmSync(join(disk, "fill"));
  expect(subjects(cwd, BRANCH)).toEqual(["First", "Initial commit"]);
  const next = await createSandbox({ branch: BRANCH, sandbox: bubblewrap(), cwd });
  await playIn(next, { commit: "Third" });
  await next.close();
  expect(subjects(cwd, BRANCH)).toEqual(["Third", "First", "Initial commit"]);
});
