import { expect, it } from "vitest";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { commit, task, watchFleet } from "./fleets.ts";

const FLEETS: [string, Runtime[], () => SandboxProvider, number, number][] = [
  ["bubblewrap", ["bubblewrap"], () => bubblewrap(), 6, 3],
  ["isolated sandboxes", [], () => testIsolated(), 6, 6],
  ["containers", ["docker"], () => docker({ imageName: TEST_IMAGE }), 2, 2],
];

for (const [place, runtimes, sandbox, count, concurrency] of FLEETS) {
  describeWith(runtimes, `${count} tasks in ${place}, ${concurrency} at a time`, () => {
    it("are all merged into one branch, each once", { timeout: 300_000 }, async () => {
      const cwd = temporaryRepository();
      const numbers = Array.from({ length: count }, (_, number) => number);
      async function* tasks() {
        for (const number of numbers) {
          const options = { sandbox: sandbox(), branchStrategy: { type: "merge-to-head" } };
          yield task(cwd, [commit(`Work ${number}`)], options);
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
    });
  });
}
