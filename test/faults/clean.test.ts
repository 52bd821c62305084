import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { subjectsOf } from "../cli/fixtures.ts";
import { clean, commits, deadRun, outcomesOf, ps, type SandboxFlag } from "../cli/hangingRuns.ts";
import { runCli } from "../cli/startCli.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory } from "../helpers/repository.ts";
import { describeWith, type Runtime } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";

/** The first invocation commits and is brought home; the second one hangs. */
const SECOND_HANGS = `[ -e first.txt ] || { ${commits("first")}; exit 0; }`;
const TWICE = ["--branch", "b", "--max-iterations", "2"];

const containersOf = (engine: string, runId: string): string =>
  execFileSync(engine, ["ps", "--all", "--format", "{{.Names}}", "--filter", `label=sanddune.run=${runId}`], {
    encoding: "utf8",
  }).trim();

for (const sandbox of ["bubblewrap", "docker", "podman"] as const satisfies (SandboxFlag & Runtime)[]) {
  describeWith([sandbox], `clean after the SIGKILL of a run in ${sandbox}`, () => {
    it("removes everything of the run but its branch, with the commits that were brought home", async () => {
      const temporary = temporaryDirectory();
      const run = await deadRun({ script: SECOND_HANGS, sandbox, flags: TWICE, env: { TMPDIR: temporary } });
      const { cwd, runId } = run;
      expect(await ps(cwd)).toMatchObject([{ runId, state: "dead", iterations: 1 }]);
      const outcomes = await clean(cwd, "--yes");
      expect(outcomesOf(outcomes).sort()).toEqual([
        "removed files",
        "removed ref",
        "removed sandbox",
        "removed worktree",
      ]);
      expect(leftovers(cwd)).toEqual([]);
      expect(readdirSync(temporary)).toEqual([]);
      if (sandbox !== "bubblewrap") expect(containersOf(sandbox, runId)).toBe("");
      await waitFor(() => !run.isAgentAlive());
      expect(subjectsOf(cwd, "b")).toEqual(["first", "Add the agent", "Initial commit"]);
      expect(git(cwd, "status", "--porcelain")).toBe("");
      git(cwd, "fsck", "--connectivity-only");
    });
  });
}

describeWith(["bubblewrap"], "clean after the SIGKILL of a run", () => {
  it("removes the lock of a run that worked in the user's checkout, and leaves the checkout alone", async () => {
    const script = "echo changed > README.md; echo new > new.txt";
    const { cwd } = await deadRun({ script, flags: ["--head"] });
    expect(outcomesOf(await clean(cwd, "--yes")).sort()).toEqual([
      "removed files",
      "removed lock",
      "removed ref",
      "removed sandbox",
    ]);
    expect(leftovers(cwd)).toEqual([]);
    expect(git(cwd, "status", "--porcelain")).toBe(" M README.md\n?? new.txt");
  });

  it("says nothing more the second time, and ps shows the run only if all are asked for", async () => {
    const { cwd, runId } = await deadRun();
    await clean(cwd, "--yes");
    expect(await clean(cwd, "--yes")).toEqual([]);
    expect((await runCli(["ps"], { cwd })).stdout).not.toContain(runId);
    expect((await runCli(["ps", "--all"], { cwd })).stdout).toMatch(new RegExp(`${runId} +dead`));
    expect(existsSync(join(cwd, ".sanddune/runs", runId, "journal.jsonl"))).toBe(true);
  });
});
