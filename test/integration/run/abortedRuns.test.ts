import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { abortedRuns, createSandbox, createWorktree, scripted } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { play, STRATEGIES, shell } from "../../security/support.ts";

/** Lets an agent commit, and then wait for ever; `there` says when it has come so far. */
const hanging = (subject: string) => {
  const mark = join(temporaryDirectory(), "there");
  return {
    steps: [{ commit: subject, files: { [`${subject}.txt`]: "x\n" } }, shell(`touch ${mark}; sleep 1000`)],
    there: () => waitFor(() => existsSync(mark)),
  };
};

const subjectsOf = (cwd: string, commits: readonly { readonly sha: string }[] = []) =>
  commits.map(({ sha }) => git(cwd, "log", "-1", "--format=%s", sha));

it("a caller that aborts a merge-to-head run gets its branch, its commits, its worktree and its log by the signal", async () => {
  const cwd = temporaryRepository();
  const controller = new AbortController();
  const { signal } = controller;
  const { steps, there } = hanging("Half");
  const running = play(cwd, steps, { sandbox: testIsolated(), signal, name: "one" });
  await there();
  expect(abortedRuns(signal)).toEqual([]);
  controller.abort("enough");
  await expect(running).rejects.toBe("enough");

  const [reached, ...others] = abortedRuns(signal);
  expect(others).toEqual([]);
  expect(reached).toMatchObject({
    name: "one",
    branch: `sanddune/${reached?.runId}`,
    iterations: [],
    warnings: [],
    preservedWorktreePath: expect.stringContaining(join(cwd, ".sanddune/worktrees/")),
    logFilePath: expect.stringContaining(join(cwd, ".sanddune/logs/")),
  });
  expect(subjectsOf(cwd, reached?.commits)).toEqual(["Half"]);
});

it("a signal lists all runs that it has aborted, also those on handles, and no others", async () => {
  const cwd = temporaryRepository();
  const controller = new AbortController();
  const { signal } = controller;
  const agents = ["One", "Two", "Three"].map(hanging);
  const [one, two, three] = agents as [(typeof agents)[0], (typeof agents)[0], (typeof agents)[0]];
  await using worktree = await createWorktree({ cwd, branchStrategy: { type: "branch", branch: "wt" } });
  await using sandbox = await createSandbox({ cwd, branch: "sb", sandbox: testIsolated() });
  const prompt = "Work";
  const runs = [
    play(cwd, one.steps, { sandbox: testIsolated(), signal, branchStrategy: STRATEGIES.branch }),
    worktree.run({ agent: scripted(two.steps), sandbox: testIsolated(), prompt, signal }),
    sandbox.run({ agent: scripted(three.steps), prompt }),
  ].map((running) => running.catch((reason: unknown) => reason));
  await Promise.all(agents.map(({ there }) => there()));
  controller.abort("enough");
  expect(await Promise.all(runs.slice(0, 2))).toEqual(["enough", "enough"]);
  await sandbox.close();
  const told = abortedRuns(signal).map(({ branch, commits }) => [branch, subjectsOf(cwd, commits)]);
  expect(new Map(told as [string, string[]][])).toEqual(
    new Map([
      ["agent/work", ["One"]],
      ["wt", ["Two"]],
    ]),
  );
});

it("the worktree that an abort keeps can be removed by ordinary git, and then its branch be checked out", async () => {
  const cwd = temporaryRepository();
  const controller = new AbortController();
  const { steps, there } = hanging("Half");
  const options = { sandbox: testIsolated(), branchStrategy: STRATEGIES.branch, signal: controller.signal };
  const running = play(cwd, steps, options).catch(() => {});
  await there();
  const isLocked = () => /^locked/m.test(git(cwd, "worktree", "list", "--porcelain"));
  expect(isLocked()).toBe(true);
  controller.abort();
  await running;
  expect(isLocked()).toBe(false);
  const path = abortedRuns(controller.signal)[0]?.preservedWorktreePath as string;
  execFileSync("sh", ["-c", `git worktree remove ${path} && git switch --quiet agent/work`], { cwd });
  expect(existsSync(join(cwd, "Half.txt"))).toBe(true);
});

it("a kept worktree that a run uses again is locked during the run", async () => {
  const cwd = temporaryRepository();
  const options = { sandbox: testIsolated(), branchStrategy: STRATEGIES.branch };
  await play(cwd, [shell("echo x > open.txt")], options);
  expect(git(cwd, "worktree", "list", "--porcelain")).not.toMatch(/^locked/m);
  const seen = join(temporaryDirectory(), "seen");
  await play(cwd, [shell("true")], {
    ...options,
    hooks: { host: { onWorktreeReady: [{ command: `git worktree list --porcelain > ${seen}` }] } },
  });
  expect(execFileSync("cat", [seen], { encoding: "utf8" })).toMatch(/^locked sanddune run /m);
});
