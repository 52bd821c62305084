import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createSandbox,
  createWorktree,
  run,
  runAll,
  scripted,
  UnsupportedRepositoryError,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { runCli } from "../../cli/callCli.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf } from "../support.ts";
import { repositoryWithTrap, useGitIn } from "./bareTrap.ts";

const agent = scripted([{ commit: "Work", files: { "work.txt": "1\n" } }]);
const sandbox = testIsolated();
const shared = { agent, prompt: "x", sandbox } as const;
const BRANCH = { type: "branch", branch: "topic" } as const;

it("the trap that these tests set runs programs for a user who uses git in it", () => {
  const { trap, fired } = repositoryWithTrap();
  useGitIn(trap);
  expect(fired()).toEqual(["fired"]);
});

const ENTRY_POINTS: [string, (cwd: string) => Promise<unknown>][] = [
  ["run() with branch", (cwd) => run({ ...shared, cwd, branchStrategy: BRANCH })],
  ["run() with merge-to-head", (cwd) => run({ ...shared, cwd, branchStrategy: { type: "merge-to-head" } })],
  ["createSandbox()", (cwd) => createSandbox({ cwd, branch: "topic", sandbox })],
  ["createWorktree()", (cwd) => createWorktree({ cwd, branchStrategy: BRANCH })],
];

describe.each(["pkg", "pkg/objects"])("in %s, inside a committed bare repository,", (place) => {
  it.each(ENTRY_POINTS)("%s refuses, says why, and runs nothing", async (_, enter) => {
    const { cwd, trap, fired } = repositoryWithTrap();
    const error = await failureOf(enter(join(cwd, place)));
    expect(error).toBeInstanceOf(UnsupportedRepositoryError);
    expect(error.message).toContain(trap);
    expect(error.message).toContain(`git -C ${cwd} log -- pkg`);
    expect(fired()).toEqual([]);
    expect(existsSync(join(trap, "worktrees"))).toBe(false);
  });
});

it("runAll() runs nothing in a committed bare repository", async () => {
  const { trap, fired } = repositoryWithTrap();
  const outcomes = await runAll([{ ...shared, cwd: trap, branchStrategy: BRANCH }]);
  expect(JSON.stringify(outcomes)).toContain("UnsupportedRepositoryError");
  expect(fired()).toEqual([]);
});

const inTrap = async (args: readonly string[]) => {
  const { trap, fired } = repositoryWithTrap();
  const result = await runCli(args, { cwd: trap, env: { TMPDIR: temporaryDirectory() } });
  expect(fired()).toEqual([]);
  return { ...result, trap };
};

it.each([
  ["ps"],
  ["ps", "--all"],
  ["logs", "x"],
  ["stop", "x"],
  ["clean", "--yes"],
  ["init", "--yes"],
  ["replay", "x"],
])("`sanddune %s` in a committed bare repository refuses, and runs nothing", async (...args) => {
  const { exitCode, stderr, trap } = await inTrap(args);
  expect(exitCode).toBeGreaterThan(0);
  expect(stderr).toContain(`is a bare one (${trap}) inside the checkout`);
});

it.each([
  ["scenario", "run"],
  ["scenario", "list"],
  ["scenario", "new", "x"],
])("`sanddune %s %s` in a committed bare repository runs nothing", async (...args) => {
  await inTrap(args);
});

describeWith(["bubblewrap"], "where bubblewrap is installed", () => {
  it.each([["--branch", "topic"], ["--merge-to-head"], ["--head"]])(
    "`sanddune run %s` in a committed bare repository refuses, and runs nothing",
    async (...flags) => {
      const run = ["run", "--sandbox", "bubblewrap", "--agent-command", "true", "--prompt", "x"];
      const { exitCode, stderr, trap } = await inTrap([...run, ...flags]);
      expect(exitCode).toBeGreaterThan(0);
      expect(stderr).toContain(`is a bare one (${trap}) inside the checkout`);
    },
  );

  it("`sanddune doctor` in a committed bare repository reports the problem, and runs nothing", async () => {
    const { stdout } = await inTrap(["doctor", "--sandbox", "bubblewrap"]);
    expect(stdout).toMatch(/bare/);
  });
});
