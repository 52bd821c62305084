import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createWorktree, run, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import {
  checkpointsOf,
  createStage,
  directoryOf,
  entriesOf,
  ofType,
  record,
} from "../../trajectory/recording.ts";

describeWith(["bubblewrap"], "a recorded run in a bind-mount sandbox", () => {
  it("has checkpoints of what it did, the last of which was done as it ended", async () => {
    const cwd = temporaryRepository();
    const result = await record(
      cwd,
      ["echo a > a.txt", "ls", "git add a.txt && git commit --quiet --message A; echo b > b.txt"],
      { sandbox: "bubblewrap", trajectory: { artifacts: ["*.txt"] } },
    );
    expect(result).toMatchObject({ warnings: [], commits: [{}] });
    expect(checkpointsOf(cwd, result)).toEqual({
      1: ["README.md", "a.txt"],
      3: ["README.md", "a.txt", "b.txt"],
    });
    expect(result.artifacts?.map(({ path }) => path)).toEqual(["a.txt", "b.txt"]);
  });

  it("in the user's own checkout begins with what the user had not committed", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "README.md"), "# Changed\n");
    const result = await record(cwd, ["echo a > a.txt"], {
      sandbox: "bubblewrap",
      branchStrategy: { type: "head" },
    });
    const { runId } = result;
    expect(Object.keys(checkpointsOf(cwd, result))).toEqual(["0", "1"]);
    expect(git(cwd, "show", `refs/sanddune/${runId}/checkpoints/0:README.md`)).toBe("# Changed");
    expect(
      git(
        cwd,
        "diff",
        "--name-only",
        `refs/sanddune/${runId}/checkpoints/0`,
        `refs/sanddune/${runId}/checkpoints/1`,
      ),
    ).toBe("a.txt");
    expect(git(cwd, "status", "--porcelain")).toBe(" M README.md\n?? a.txt");
  });

  it("in a worktree that lasts continues numbering in later iterations, and imports what is new after each", async () => {
    const cwd = temporaryRepository();
    await using worktree = await createWorktree({
      branchStrategy: { type: "branch", branch: "agent/work" },
      cwd,
    });
    const result = await worktree.run({
      agent: scripted(({ iteration }) => [
        { commit: `Part ${iteration}`, files: { [`${iteration}.txt`]: "x\n" } },
      ]),
      sandbox: bubblewrap(),
      prompt: "x",
      maxIterations: 3,
      trajectory: true,
    });
    expect(result.commits).toHaveLength(3);
    expect(checkpointsOf(cwd, result)).toEqual({
      1: ["1.txt", "README.md"],
      2: ["1.txt", "2.txt", "README.md"],
      3: ["1.txt", "2.txt", "3.txt", "README.md"],
    });
    const entries = entriesOf(directoryOf(cwd, result));
    expect(ofType(entries, "checkpoint").map(({ iteration }) => iteration)).toEqual([1, 2, 3]);
  });
});

describeWith(["docker"], "a recorded run in docker", () => {
  it("has checkpoints and artifacts", async () => {
    const cwd = temporaryRepository();
    const stage = createStage();
    const mounts = [{ hostPath: stage.directory, sandboxPath: stage.directory }];
    const agent = scripted([stage.step("echo a > a.txt"), stage.step("ls"), stage.step("echo b > b.txt")]);
    const [result] = await Promise.all([
      run({
        agent,
        sandbox: docker({ imageName: TEST_IMAGE, mounts }),
        cwd,
        prompt: "x",
        branchStrategy: { type: "branch", branch: "agent/work" },
        trajectory: { artifacts: ["b.txt"] },
      }),
      stage.conduct(cwd),
    ]);
    expect(result.warnings).toEqual([]);
    expect(checkpointsOf(cwd, result)).toEqual({
      1: ["README.md", "a.txt"],
      3: ["README.md", "a.txt", "b.txt"],
    });
    expect(result.artifacts).toMatchObject([{ path: "b.txt", bytes: 2 }]);
  });
});
