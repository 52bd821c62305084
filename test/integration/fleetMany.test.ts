import { expect, it } from "vitest";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { commit, task, watchFleet } from "./fleets.ts";

/** Runs so many tasks that are merged into one branch, and checks that each has arrived there, once. */
const expectAllMerged = async (sandbox: SandboxProvider, count: number, concurrency: number) => {
  const cwd = temporaryRepository();
  const numbers = Array.from({ length: count }, (_, number) => number);
  async function* tasks() {
    for (const number of numbers) {
      yield task(cwd, [commit(`Work ${number}`)], { sandbox, branchStrategy: { type: "merge-to-head" } });
    }
  }
  const { outcomes, succeeded } = await watchFleet(tasks(), { concurrency });
  expect(outcomes.flatMap(({ error }) => error ?? [])).toEqual([]);
  expect(succeeded).toBe(count);
  const subjects = outcomes.map(({ commits }) =>
    commits.map(({ sha }) => git(cwd, "log", "-1", "--format=%s", sha)),
  );
  expect(subjects).toEqual(numbers.map((number) => [`Work ${number}`]));
  const merged = git(cwd, "log", "--no-merges", "--format=%s", "main").split("\n");
  expect(merged.sort()).toEqual(["Initial commit", ...numbers.map((number) => `Work ${number}`)].sort());
  expect(git(cwd, "status", "--porcelain")).toBe("");
  expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
  expect(leftovers(cwd)).toEqual([]);
};

describeWith(["bubblewrap"], "50 tasks in bubblewrap, 8 at a time", () => {
  it("are all merged into one branch, each once", { timeout: 300_000 }, () =>
    expectAllMerged(bubblewrap(), 50, 8),
  );
});

describeWith([], "50 tasks in isolated sandboxes, all at once", () => {
  it("are all merged into one branch, each once", { timeout: 300_000 }, () =>
    expectAllMerged(testIsolated(), 50, 50),
  );
});

describeWith(["docker"], "6 tasks in containers, 3 at a time", () => {
  it("are all merged into one branch, each once", { timeout: 300_000 }, () =>
    expectAllMerged(docker({ image: TEST_IMAGE }), 6, 3),
  );
});
