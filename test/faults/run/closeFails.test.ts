import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { docker } from "../../../src/sandboxes/docker.ts";
import { runCli } from "../../cli/callCli.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { callClient, containersOf } from "../../sandboxes/containers/containers.ts";
import { play, STRATEGIES, shell } from "../../security/support.ts";
import { worktreeFor } from "../clean/deadRuns.ts";

/** A docker sandbox whose daemon does not answer when it is to be closed: its processes stay. */
const unclosable = () => {
  const provider = docker({ imageName: TEST_IMAGE });
  return {
    ...provider,
    create: async (options: Parameters<typeof provider.create>[0]) => ({
      ...(await provider.create(options)),
      close: () => Promise.reject(new Error("the daemon does not answer")),
    }),
  };
};

describeWith(["docker"], "a sandbox that cannot be closed", () => {
  it.each([
    ["a worktree", temporaryRepository],
    ["an overlay", largeRepository],
  ])("may still write to its files: %s is kept until it was rescued", async (kind, makeRepository) => {
    const cwd = makeRepository();
    const agent = [shell("echo uncommitted > work.txt; (sleep 1; echo late > late.txt) &")];
    const options = { branchStrategy: STRATEGIES.branch, sandbox: unclosable() } as const;
    const { runId, warnings } = await play(cwd, agent, options);
    const path = worktreeFor(cwd, "agent/work");
    try {
      expect(containersOf("docker", runId)).toHaveLength(1);
      expect(warnings.join("\n")).toContain("the daemon does not answer");
      expect(existsSync(join(path, "work.txt"))).toBe(kind === "a worktree");
      expect(await runCli(["rescue", runId], { cwd })).toMatchObject({ exitCode: 0 });
      expect(containersOf("docker", runId)).toEqual([]);
      expect(readFileSync(join(path, "work.txt"), "utf8")).toBe("uncommitted\n");
      expect(readdirSync(path)).toContain("README.md");
    } finally {
      for (const name of containersOf("docker", runId)) callClient("docker", "rm", "--force", name);
    }
  });
});
