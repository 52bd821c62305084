// The git directory of a bind-mount sandbox is the agent's to write to. Nothing in it may decide whether work is brought home.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { command, run } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { play, shell } from "../support.ts";

const commit = "echo work > work.txt && git add work.txt && git commit -q -m Work";

describeWith(["bubblewrap"], "an agent that tampers with what is in its git directory for packing", () => {
  it.each([
    ["removes the verdict", "rm -f /sanddune/git/sanddune-ready-0"],
    ["forges the verdict", "echo no-git > /sanddune/git/sanddune-ready-0"],
    [
      "makes a directory of the verdict",
      "rm -f /sanddune/git/sanddune-ready-0; mkdir /sanddune/git/sanddune-ready-0",
    ],
    [
      "forges the verdict, and replaces its objects by a link to everything",
      "cd /sanddune/git; echo no-git > sanddune-ready-0; mv objects moved; ln -s / objects",
    ],
    ["empties the list of known commits", ": > /sanddune/git/sanddune-known-commits"],
    ["makes a directory of the report", "mkdir -p /sanddune/git/sanddune-export.report/a/b"],
    ["forges a report", "(sleep 1; printf 'complete\\n' > /sanddune/git/sanddune-export.report) &"],
  ])("%s: its commits are brought home, or kept with an error that says where", async (_, tamper) => {
    const cwd = temporaryRepository();
    const ended = await run({
      agent: command(`${commit}\n${tamper}`),
      sandbox: bubblewrap(),
      cwd,
      prompt: "x",
    }).catch((error) => error);
    const landed = git(cwd, "log", "-1", "--format=%s") === "Work";
    const kept = existsSync(join(cwd, ".sanddune/runs", ended.runId, "files/git/objects"));
    expect(landed || kept).toBe(true);
    if (!(ended instanceof Error)) expect(landed).toBe(true);
  });

  it("leaves a repository that git hangs in: an abort comes to its end all the same, and the files are kept", async () => {
    const cwd = temporaryRepository();
    const controller = new AbortController();
    const reason = new Error("enough");
    const running = play(
      cwd,
      [shell(commit), shell("mkfifo /sanddune/git/refs/heads/zz; touch hanging"), { sleepMs: 600_000 }],
      { signal: controller.signal, branchStrategy: { type: "branch", branch: "b" } },
    ).catch((error) => error);
    const worktrees = () =>
      git(cwd, "worktree", "list", "--porcelain").match(/^worktree (.*worktrees.*)$/m)?.[1] ?? "";
    await waitFor(() => worktrees() !== "" && existsSync(join(worktrees(), "hanging")));
    controller.abort(reason);
    expect(await running).toBe(reason);
    expect(readFileSync(join(worktrees(), "work.txt"), "utf8")).toBe("work\n");
  });
});
