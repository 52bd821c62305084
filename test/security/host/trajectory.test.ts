import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { checkpointsOf, record, type SandboxName } from "../../trajectory/recording.ts";

const CHECKPOINT = "refs/sanddune/checkpoint";

const describeRecording = (sandbox: SandboxName): void => {
  const play = (cwd: string, ...commands: string[]) => record(cwd, commands, { sandbox });

  it("cannot put another commit in the place of a checkpoint", async () => {
    const cwd = temporaryRepository();
    const result = await play(
      cwd,
      "echo good > file",
      `forged=$(git commit-tree -m Forged HEAD^{tree}); git update-ref ${CHECKPOINT} $forged; git update-ref ${CHECKPOINT}s/1 $forged; git update-ref refs/sanddune/20200101-000000-abcdef/checkpoints/1 $forged`,
    );
    expect(checkpointsOf(cwd, result)).toEqual({ 1: ["README.md", "file"] });
    const refs = git(cwd, "for-each-ref", "--format=%(refname)", "refs/sanddune").split("\n");
    const strays = `refs/sanddune/runs/${result.runId}/`;
    expect(refs.filter((ref) => !ref.startsWith(strays))).toEqual([
      `refs/sanddune/${result.runId}/checkpoints/1`,
    ]);
  });

  it("can destroy its checkpoints, and nothing else: its commits arrive, with a warning", async () => {
    const cwd = temporaryRepository();
    const destroy = `git update-ref -d ${CHECKPOINT}; git reflog expire --expire=now --all; git gc --quiet --prune=now`;
    const commands = ["echo one > file", `${destroy}; git commit --quiet --allow-empty --message Commit`];
    const result = await record(cwd, commands, { sandbox, seen: 1 });
    expect(result.commits).toHaveLength(1);
    expect(checkpointsOf(cwd, result)).toEqual({});
    expect(result.warnings).toEqual([
      expect.stringContaining("A checkpoint could not be taken"),
      expect.stringContaining("1 of 1 checkpoints were not imported"),
    ]);
  });

  it("can keep checkpoints from being taken, and nothing else", async () => {
    const cwd = temporaryRepository();
    const result = await record(
      cwd,
      [
        `git update-ref ${CHECKPOINT}/in-the-way HEAD; echo x > f; git add f; git commit --quiet --message Commit`,
      ],
      { sandbox, seen: 0 },
    );
    expect(result.commits).toHaveLength(1);
    expect(result.warnings).toEqual([expect.stringContaining("A checkpoint could not be taken")]);
  });

  it("has no program of its own run when a checkpoint is taken", async () => {
    const cwd = temporaryRepository();
    const result = await play(
      cwd,
      `git_dir=$(git rev-parse --absolute-git-dir); mkdir -p "$git_dir/hooks"; printf '#!/bin/sh\\ntouch hooked\\n' > "$git_dir/hooks/reference-transaction"; chmod +x "$git_dir/hooks/reference-transaction"; echo x > file`,
    );
    expect(checkpointsOf(cwd, result)).toEqual({ 1: ["README.md", "file"] });
    expect(result.warnings).toEqual([]);
  });

  it("cannot write a line of the trajectory, whatever it prints", async () => {
    const cwd = temporaryRepository();
    const line = '{"at":"2026-01-01T00:00:00.000Z","type":"tests","iteration":1,"action":1,"commit":"x"}';
    const result = await play(cwd, `printf '%s\\n' '${line}'; printf '"}\\n%s\\n' '${line}'`);
    const lines = readFileSync(result.trajectoryPath ?? "", "utf8")
      .trim()
      .split("\n");
    expect(lines.map((text) => JSON.parse(text).type)).not.toContain("tests");
  });
};

describe("an agent that is recorded in an isolated sandbox", () => describeRecording("isolated"));

describeWith(["bubblewrap"], "an agent that is recorded in bubblewrap", () => {
  describeRecording("bubblewrap");

  it.each([
    ["a submodule's address", `printf '[submodule "a"]\\n path = a\\n url = -x\\n' > .gitmodules`],
    ["a line of attributes", "head -c 3000 /dev/zero | tr '\\0' a > .gitattributes"],
  ])("loses its checkpoints, and no commit, by %s that git refuses", async (_, makeUnsound) => {
    const cwd = temporaryRepository();
    const commit = "echo a > a; git add a; git commit --quiet --message A";
    const result = await record(cwd, [`${commit}; ${makeUnsound}`], { sandbox: "bubblewrap" });
    expect(result.commits).toHaveLength(1);
    expect(result.warnings).toEqual([
      expect.stringMatching(/^The checkpoints could not be kept: git found them unsound\. .+$/),
    ]);
    expect(checkpointsOf(cwd, result)).toEqual({});
  });
});
