import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import type { KeptRef, ScriptedStep } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { failureOf, play, STRATEGIES, shell } from "../../security/support.ts";

const OWN_BRANCH: readonly ScriptedStep[] = [
  shell("git checkout --quiet -b feature/x"),
  { commit: "One", files: { "one.txt": "1\n" } },
  { commit: "Two", files: { "two.txt": "2\n" } },
];
const options = { sandbox: testIsolated(), branchStrategy: STRATEGIES.branch };

const subjects = (cwd: string, kept: readonly KeptRef[] = []) =>
  kept.map(({ name, ref }) => [name, git(cwd, "log", "--format=%s", `main..${ref}`)]);

it("an agent that commits to a branch of its own: the result says where that is, and a warning how to have it", async () => {
  const cwd = temporaryRepository();
  const { branch, commits, keptRefs, warnings } = await play(cwd, OWN_BRANCH, options);
  expect({ branch, commits }).toEqual({ branch: "agent/work", commits: [] });
  expect(subjects(cwd, keptRefs)).toEqual([["refs/heads/feature/x", "Two\nOne"]]);
  expect(git(cwd, "rev-parse", keptRefs?.[0]?.ref as string)).toBe(keptRefs?.[0]?.sha);

  const [, command] = /To make a branch of it: (.*)$/.exec(warnings[0] as string) ?? [];
  execFileSync("sh", ["-c", command as string], { cwd });
  expect(git(cwd, "log", "-1", "--format=%s", "feature/x")).toBe("Two");
});

it("an error says where those commits are, too", async () => {
  const cwd = temporaryRepository();
  const error = await failureOf(play(cwd, [...OWN_BRANCH, { exit: 1 }], options));
  expect(subjects(cwd, error.keptRefs)).toEqual([["refs/heads/feature/x", "Two\nOne"]]);
});

it("nothing is said of them if all commits are on the branch", async () => {
  const cwd = temporaryRepository();
  const merging = [...OWN_BRANCH, shell("git checkout --quiet agent/work && git merge --quiet feature/x")];
  const result = await play(cwd, merging, options);
  expect(result.commits).toHaveLength(2);
  expect(result).not.toHaveProperty("keptRefs");
});
