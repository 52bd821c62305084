import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  clean,
  commits,
  deadRun,
  type HangingRun,
  hang,
  outcomesOf,
  ps,
  worktreeOf,
} from "../cli/hangingRuns.ts";
import { runCli } from "../cli/startCli.ts";
import { bundle } from "../helpers/bundle.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";

const docker = (...args: string[]): string => execFileSync("docker", args, { encoding: "utf8" }).trim();

describeWith(["docker"], "clean and containers", () => {
  it("leaves those of another repository alone", async () => {
    const here = await deadRun({ sandbox: "docker" });
    const elsewhere = await deadRun({ sandbox: "docker" });
    await clean(here.cwd, "--yes");
    await waitFor(() => !here.isAgentAlive());
    expect(elsewhere.isAgentAlive()).toBe(true);
  });

  it("leaves one alone that has the name, but not the label", async () => {
    const { cwd, runId } = await deadRun({ sandbox: "docker" });
    const name = `sanddune-${runId}`;
    docker("rm", "--force", name);
    docker("run", "--detach", "--name", name, TEST_IMAGE, "sleep", "600");
    const outcomes = await clean(cwd, "--yes");
    expect(outcomes.filter(({ what }) => what === "sandbox")).toEqual([]);
    expect(docker("inspect", "--format", "{{.State.Running}}", name)).toBe("true");
  });

  it("leaves alone what an agent may still work on when docker cannot be asked, and cleans the rest", async () => {
    const unreachable = await deadRun({ sandbox: "docker" });
    const { cwd } = unreachable;
    const other = await deadRun({ cwd, flags: ["--branch", "other"] });
    const { exitCode, stdout } = await runCli(["clean", "--yes", "--json"], {
      cwd,
      env: { DOCKER_HOST: "unix:///nowhere/docker.sock" },
    });
    expect(exitCode).toBe(0);
    const outcomes = JSON.parse(stdout) as Awaited<ReturnType<typeof clean>>;
    const of = ({ runId }: HangingRun) =>
      outcomes
        .filter(({ runIds }) => runIds.includes(runId))
        .map(({ outcome, what }) => `${outcome} ${what}`);
    expect(of(unreachable).sort()).toEqual(["kept files", "kept ref", "kept sandbox", "kept worktree"]);
    expect(of(other).sort()).toEqual(["removed files", "removed ref", "removed sandbox", "removed worktree"]);
    expect(outcomes.find(({ what }) => what === "sandbox")?.keptBecause).toMatch(/docker/i);
    expect(unreachable.isAgentAlive()).toBe(true);
    expect(existsSync(join(worktreeOf(cwd), "README.md"))).toBe(true);
    await clean(cwd, "--yes");
    expect(leftovers(cwd)).toEqual([]);
  });
});

describeWith(["bubblewrap"], "clean and sandboxes without containers", () => {
  it("finds a directory where the run had its temporary files, not where clean has them", async () => {
    const temporary = temporaryDirectory();
    const { cwd, runId } = await deadRun({ env: { TMPDIR: temporary } });
    expect(readdirSync(temporary)).toEqual([`sanddune-bubblewrap-sanddune-${runId}`]);
    await clean(cwd, "--yes");
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("leaves everything of a run whose sandbox provider it does not know", async () => {
    const { cwd, runId } = await deadRun({ script: commits("unfinished") });
    const journal = join(cwd, ".sanddune/runs", runId, "journal.jsonl");
    writeFileSync(
      journal,
      readFileSync(journal, "utf8").replace('"sandbox":"bubblewrap"', '"sandbox":"elsewhere"'),
    );
    for (const flags of [[], ["--run", runId]]) {
      const outcomes = await clean(cwd, "--yes", ...flags);
      expect(outcomes.filter(({ outcome, what }) => outcome !== "kept" && what !== "lock")).toEqual([]);
      expect(outcomes.find(({ what }) => what === "sandbox")?.keptBecause).toContain("elsewhere");
    }
    expect(existsSync(worktreeOf(cwd))).toBe(true);
    expect(await ps(cwd)).toMatchObject([{ runId, state: "dead" }]);
  });
});

it("an isolated sandbox stays, with everything around it, until its run is named", async () => {
  const cwd = temporaryRepository();
  const temporary = temporaryDirectory();
  const { line, isThere } = hang();
  const order = {
    cwd,
    sandbox: "isolated",
    branchStrategy: { type: "branch", branch: "b" },
    steps: [{ shell: `echo alone > alone.txt; ${line}` }],
  };
  const program = bundle(join(import.meta.dirname, "runUntilKilled.ts"));
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: "ignore",
  });
  await waitFor(isThere);
  child.kill("SIGKILL");
  await once(child, "exit");
  const [run] = await ps(cwd);
  const runId = run?.runId ?? "";
  const outcomes = await clean(cwd, "--yes");
  expect(outcomes.find(({ what }) => what === "sandbox")).toMatchObject({
    outcome: "kept",
    goesIfNamed: true,
    runIds: [runId],
  });
  expect(outcomesOf(outcomes)).toContain("kept worktree");
  expect(readdirSync(temporary)).toHaveLength(1);
  await clean(cwd, "--yes", "--run", runId);
  expect(readdirSync(temporary)).toEqual([]);
  await waitFor(() => !isThere());
  expect(leftovers(cwd)).toEqual([]);
});
