import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { InternalError, SandduneError, type ScriptedStep } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import {
  asUser,
  BRANCH,
  canaries,
  EVERY_DAY,
  ending,
  openSandbox,
  playIn,
  subjects,
} from "../../security/lasting/lasting.ts";
import { journalsOf, locksOf, shell, worktreesOf } from "../../security/support.ts";
import { allSubjects } from "../clean/leftGit.ts";
import { work, worktreeIn } from "../run/worktrees.ts";
import { killWhen, useProgram } from "./killedPrograms.ts";
import type { SandboxOrder } from "./sandboxUntilKilled.ts";

const FIRST: ScriptedStep = { commit: "First", files: { "first.txt": "1\n" } };
const journal = (cwd: string): string => journalsOf(cwd).join("");

const program = useProgram("sandboxUntilKilled.ts");

type Moment = (cwd: string, hasMark: (name: string) => boolean) => boolean;
const IDLE: Moment = (_, hasMark) => hasMark("idle");
const AT_WORK: Moment = (_, hasMark) => hasMark("reached");

/** Works in a sandbox that lasts, in a process of its own, and kills that at a moment. */
const killAt = async (
  moment: Moment,
  {
    runs,
    ...changes
  }: Partial<Omit<SandboxOrder, "runs">> & {
    readonly runs: (marks: string) => SandboxOrder["runs"];
  },
): Promise<{ readonly cwd: string; readonly hasMark: (name: string) => boolean }> => {
  const [cwd, marks] = [temporaryRepository(), temporaryDirectory()];
  const order: SandboxOrder = {
    ...{ cwd, marks, branch: BRANCH, image: TEST_IMAGE, provider: "bubblewrap" },
    ...{ closes: false, isInWorktree: false, runs: runs(marks), ...changes },
  };
  const hasMark = (name: string) => existsSync(join(marks, name));
  await killWhen(program(), { order, when: () => moment(cwd, hasMark), mayEnd: order.closes });
  return { cwd, hasMark };
};

const SECOND: ScriptedStep = { commit: "Second", files: { "second.txt": "2\n" } };
/** Leaves a file that is in no commit, and says so. */
const leaveOpen = (marks: string, then = ":") =>
  shell(`echo open > open.txt; touch ${marks}/reached; ${then}`);

describeWith(["bubblewrap"], "SIGKILL of the process that has a sandbox open", () => {
  const hang = (marks: string) => [[FIRST], [SECOND, leaveOpen(marks, "sleep 60")]];
  const MOMENTS: [string, Moment, Parameters<typeof killAt>[1]][] = [
    ["while it opened", (cwd) => journal(cwd).includes('"what":"sandbox"'), { runs: () => [[FIRST]] }],
    ["while a run went on", AT_WORK, { runs: hang }],
    ["while it was closed", IDLE, { runs: () => [[FIRST]], closes: true }],
  ];

  it.each(MOMENTS)(
    "%s: nothing is lost, the journal tells what is left, and the next sandbox on the branch works",
    async (moment, condition, order) => {
      const { cwd, hasMark } = await killAt(condition, order);
      const wasAtWork = hasMark("reached");
      if (moment !== "while it opened") expect(subjects(cwd, BRANCH)).toContain("First");
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
});

describeWith(["bubblewrap"], "SIGKILL of a process with a worktree and a sandbox in it open", () => {
  it.each([
    ["while an agent works", "sleep 60"],
    ["when an agent has just worked", ":"],
  ])(
    "%s loses nothing that was committed, the next createWorktree() on the branch takes over, and no repository of the agent in it is armed",
    async (_, then) => {
      const { fire, fired } = canaries();
      const plant = `git init -q nested; git -C nested config core.fsmonitor '${fire("nested")}; :'`;
      const runs = (marks: string) => [[FIRST], [SECOND, shell(plant), leaveOpen(marks, then)]];
      const { cwd } = await killAt(AT_WORK, { runs, isInWorktree: true });
      expect(subjects(cwd, BRANCH)).toContain("First");
      expect(allSubjects(cwd)).toContain("Second");

      const worktree = await worktreeIn(cwd);
      expect(worktree.warnings).toContainEqual(expect.stringContaining("worktree of an earlier run"));
      execFileSync("git", ["-C", join(worktree.worktreePath, "nested"), "status"], { stdio: "ignore" });
      expect(fired()).toEqual([]);
      const steps = [shell("cat second.txt open.txt > seen.txt"), { commit: "After" }];
      await work(worktree, steps, bubblewrap());
      expect(git(cwd, "show", `${BRANCH}:seen.txt`)).toBe("2\nopen");
      expect((await worktree.close()).preservedWorktreePath).toBeUndefined();
      expect(locksOf(cwd)).toEqual([]);
      expect(git(cwd, "status", "--porcelain")).toBe("");
    },
  );
});

describeWith(["bubblewrap", "docker"], "SIGKILL of the process that has a container open", () => {
  it("lets the next sandbox use the branch, and no process of the container can affect the user", async () => {
    const { fire, fired } = canaries();
    const plant = shell(
      "git init -q sub; git -C sub -c user.name=E -c user.email=e@example.com commit -q --allow-empty -m x",
      `git -C sub config core.fsmonitor '${fire("sub")}; :'; cp -r sub/.git /tmp/keep`,
      "git add sub; git commit -q -m Sub",
      "setsid nohup sh -c 'while true; do [ -e sub/.git ] || cp -r /tmp/keep sub/.git; sleep 0.02; done' >/dev/null 2>&1 &",
    );
    const { cwd } = await killAt(IDLE, { provider: "docker", runs: () => [[FIRST], [plant]] });
    const container = /"what":"sandbox","name":"([^"]+)"/.exec(journal(cwd))?.[1] as string;
    onTestFinished(() => void execFileSync("docker", ["rm", "--force", container], { stdio: "ignore" }));
    const next = await openSandbox(cwd);
    expect((await playIn(next, { commit: "After the crash" })).commits).toHaveLength(1);
    await next.close();
    expect(subjects(cwd, BRANCH)).toEqual(["After the crash", "Sub", "First", "Initial commit"]);
    for (const path of worktreesOf(cwd)) {
      // What is left running has all the time that it needs.
      await waitFor(() => path === cwd || existsSync(join(path, "sub/.git"))).catch(() => undefined);
      asUser(path, EVERY_DAY);
    }
    expect(fired()).toEqual([]);
  });
});

/** A directory on a small disk of its own; `undefined` where none can be made. */
const smallDisk = (): string | undefined => {
  const directory = temporaryDirectory();
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=16m", "none", directory]);
  if (status !== 0) return undefined;
  onTestFinished(() => void execFileSync("umount", ["--lazy", directory]));
  return directory;
};

describeWith(["bubblewrap", "root"], "a disk that is full while a sandbox is open", () => {
  it("rejects with a SandduneError, close() resolves, and earlier work is kept", async (context) => {
    const disk = smallDisk();
    if (disk === undefined) return context.skip("this machine does not let root mount a tmpfs");
    const cwd = join(disk, "repo");
    git(disk, "clone", "--quiet", temporaryRepository(), cwd);
    const sandbox = await openSandbox(cwd);
    await playIn(sandbox, FIRST);
    expect(spawnSync("dd", ["if=/dev/zero", `of=${disk}/fill`, "bs=4k"]).status).not.toBe(0);
    const failed = await ending(playIn(sandbox, { commit: "Second" }));
    expect(failed).toBeInstanceOf(SandduneError);
    expect(failed).not.toBeInstanceOf(InternalError);
    expect(await ending(sandbox.close())).toMatchObject({ warnings: expect.any(Array) });
    rmSync(join(disk, "fill"));
    expect(subjects(cwd, BRANCH)).toEqual(["First", "Initial commit"]);
    const next = await openSandbox(cwd);
    await playIn(next, { commit: "Third" });
    await next.close();
    expect(subjects(cwd, BRANCH)).toEqual(["Third", "First", "Initial commit"]);
  });
});
