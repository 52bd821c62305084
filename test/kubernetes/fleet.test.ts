import { expect, it } from "vitest";
import { SandboxLostError } from "../../src/errors.ts";
import { leftovers } from "../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWithCluster } from "./cluster.ts";
import { fleetWithDyingNode, otherPods } from "./fleets.ts";

const COUNT = 50;
const NUMBERS = Array.from({ length: COUNT }, (_, number) => number);

describeWithCluster("a fleet of 50 runs at once over two nodes, one of which dies", () => {
  it("tries once more, on the other node, what was lost, and merges everything once", {
    timeout: 900_000,
  }, async () => {
    const cwd = temporaryRepository();
    const { result, doomed, nodeOf } = await fleetWithDyingNode(cwd, { count: COUNT, retries: 1 });
    const { outcomes, succeeded } = result;

    expect(outcomes.flatMap(({ error }) => error ?? [])).toEqual([]);
    expect(succeeded).toBe(COUNT);
    const lost = outcomes.flatMap((outcome) => outcome.lost);
    expect(lost.every((error) => error instanceof SandboxLostError)).toBe(true);
    expect(lost.map(({ runId }) => runId).sort()).toEqual([...doomed].sort());
    for (const outcome of outcomes) {
      expect(outcome.attempts).toBe(outcome.lost.length + 1);
      expect(outcome.attempts).toBeLessThanOrEqual(2);
      expect(nodeOf(outcome.runId)).toBe("node2");
    }

    const merged = git(cwd, "log", "--no-merges", "--format=%s", "main").split("\n");
    expect(merged.sort()).toEqual(["Initial commit", ...NUMBERS.map((number) => `Work ${number}`)].sort());
    expect(outcomes.map(({ commits }) => commits.length)).toEqual(NUMBERS.map(() => 1));
    for (const number of NUMBERS) {
      expect(git(cwd, "show", `main:work-${number}.txt`)).toBe(String(number));
    }
    expect(git(cwd, "status", "--porcelain")).toBe("");
    // A lost attempt keeps what it has on the host; its pod goes on where nobody can reach it, and may hold work.
    expect(leftovers(cwd).filter((left) => ![...doomed].some((runId) => left.includes(runId)))).toEqual([]);
    expect(await otherPods(cwd, doomed)).toEqual([]);
  });
});
