import { expect, it } from "vitest";
import { SandboxLostError } from "../../src/errors.ts";
import { git, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWithCluster } from "./cluster.ts";
import { fleetWithDyingNode, otherPods } from "./fleets.ts";

describeWithCluster("a fleet without retries over two nodes, one of which dies", () => {
  it("has failed where the node died, and succeeded everywhere else", { timeout: 600_000 }, async () => {
    const cwd = temporaryRepository();
    const { result, doomed } = await fleetWithDyingNode(cwd, { count: 8, retries: 0 });
    const { outcomes, succeeded, failed } = result;
    expect({ succeeded, failed }).toEqual({ succeeded: 8 - doomed.size, failed: doomed.size });
    for (const { runId = "", state, error, attempts, lost } of outcomes) {
      expect({ attempts, lost }).toEqual({ attempts: 1, lost: [] });
      expect(state).toBe(doomed.has(runId) ? "failed" : "succeeded");
      if (doomed.has(runId)) expect(error).toBeInstanceOf(SandboxLostError);
      else expect(error).toBeUndefined();
    }
    const merged = git(cwd, "log", "--no-merges", "--format=%s", "main").split("\n");
    const done = outcomes.filter(({ state }) => state === "succeeded").map(({ index }) => `Work ${index}`);
    expect(merged.sort()).toEqual(["Initial commit", ...done].sort());
    expect(await otherPods(cwd, doomed)).toEqual([]);
  });
});
