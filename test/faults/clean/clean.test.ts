import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { CleanOutcome } from "../../../src/runs/clean/cleanUp.ts";
import { runCli } from "../../cli/callCli.ts";
import { subjectsOf } from "../../cli/fixtures.ts";
import { clean, outcomesOf, ps } from "../../cli/runs/hangingRuns.ts";
import { runCliProcess } from "../../cli/startCli.ts";
import { hang } from "../../helpers/agents/agentScripts.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { play } from "../../security/support.ts";
import { killWhen, useProgram } from "../kill/killedPrograms.ts";
import type { SandboxOrder } from "../kill/sandboxUntilKilled.ts";
import { commitsFirst, onBranch, useHangingRuns } from "./deadRuns.ts";

const { deadRuns, startRuns } = useHangingRuns();
const ALL_OF_A_RUN = ["removed files", "removed ref", "removed sandbox", "removed worktree"];

const containersOf = (engine: string, runId: string): string =>
  execFileSync(engine, ["ps", "--all", "--format", "{{.Names}}", "--filter", `label=sanddune.run=${runId}`], {
    encoding: "utf8",
  }).trim();

for (const sandbox of ["bubblewrap", "docker", "podman"] as const) {
  describeWith([sandbox], `clean after the SIGKILL of a run in ${sandbox}`, () => {
    it("removes everything of the run except for its branch, with the imported commits", async () => {
      const { cwd, temporary, runs } = await deadRuns([{ ...commitsFirst("first"), sandbox }]);
      const [{ runId, isAgentAlive }] = runs;
      expect(await ps(cwd)).toMatchObject([{ runId, state: "dead", iterations: 1 }]);
      // Not where the temporary files of `clean` are.
      if (sandbox === "bubblewrap") {
        expect(readdirSync(temporary)).toEqual([`sanddune-bubblewrap-sanddune-${runId}`]);
      }
      expect(outcomesOf(await clean(cwd, "--yes")).sort()).toEqual(ALL_OF_A_RUN);
      expect(leftovers(cwd)).toEqual([]);
      expect(readdirSync(temporary)).toEqual([]);
      if (sandbox !== "bubblewrap") expect(containersOf(sandbox, runId)).toBe("");
      await waitFor(() => !isAgentAlive());
      expect(subjectsOf(cwd, "b")).toEqual(["first", "Initial commit"]);
      expect(git(cwd, "status", "--porcelain")).toBe("");
      git(cwd, "fsck", "--connectivity-only");
    });
  });
}

describeWith(["bubblewrap"], "clean after the SIGKILL of a run", () => {
  it("in the user's checkout removes its lock, does not touch the checkout, and reports nothing the second time; ps shows the run only with --all", async () => {
    const script = "echo changed > README.md; echo new > new.txt";
    const { cwd, runs } = await deadRuns([{ script, branchStrategy: { type: "head" } }]);
    const [{ runId }] = runs;
    expect(outcomesOf(await clean(cwd, "--yes")).sort()).toEqual([
      "removed files",
      "removed ref",
      "removed sandbox",
    ]);
    expect(leftovers(cwd)).toEqual([]);
    expect(git(cwd, "status", "--porcelain")).toBe(" M README.md\n?? new.txt");

    expect(await clean(cwd, "--yes")).toEqual([]);
    expect((await runCli(["ps"], { cwd })).stdout).not.toContain(runId);
    expect((await runCli(["ps", "--all"], { cwd })).stdout).toMatch(new RegExp(`${runId} .*dead`));
    expect(existsSync(join(cwd, ".sanddune/runs", runId, "journal.jsonl"))).toBe(true);
  });
});

describeWith(["bubblewrap"], "processes that host hooks left running", () => {
  const leaving = (line: string) => ({
    hooks: { host: { onWorktreeReady: [{ command: `setsid ${line} > /dev/null 2>&1 &` }] } },
  });

  it("are ended if the run is dead, and no others are", async () => {
    const [ofDead, ofRunning] = [hang(), hang()];
    const { cwd } = await deadRuns([leaving(ofDead.line)]);
    const running = await startRuns([{ ...onBranch("other"), ...leaving(ofRunning.line) }], cwd);
    const [{ runId, isAgentAlive }] = running.runs;
    const bystander = spawn("sleep", ["600"], { env: { ...process.env, SANDDUNE_EXEC_ID: "f".repeat(32) } });
    onTestFinished(() => void bystander.kill());
    expect(outcomesOf(await clean(cwd))).toContain("wouldBeRemoved processes");
    expect(ofDead.isThere()).toBe(true);
    expect(outcomesOf(await clean(cwd, "--yes"))).toContain("removed processes");
    await waitFor(() => !ofDead.isThere());
    expect(ofRunning.isThere()).toBe(true);
    expect(isAgentAlive()).toBe(true);
    expect(processIsAlive(bystander.pid ?? 0)).toBe(true);
    await runCli(["stop", runId], { cwd });
    expect(ofRunning.isThere()).toBe(false);
  });
});

const lastingProgram = useProgram("sandboxUntilKilled.ts");

/** A repository in which a process with a sandbox that lasts has been killed. */
const killedWhileIdle = async (order: Pick<SandboxOrder, "provider" | "isInWorktree">): Promise<string> => {
  const [cwd, marks] = [temporaryRepository(), temporaryDirectory()];
  const full: SandboxOrder = {
    ...{ ...order, cwd, marks, branch: "b", image: TEST_IMAGE, closes: false },
    runs: [[{ commit: "First" }]],
  };
  await killWhen(lastingProgram(), { order: full, when: () => existsSync(join(marks, "idle")) });
  return cwd;
};

describeWith(["bubblewrap"], "clean after the SIGKILL of a process with a lasting sandbox", () => {
  it("removes the sandbox and the worktree, and keeps the commits of its calls", async () => {
    const cwd = await killedWhileIdle({ provider: "bubblewrap", isInWorktree: false });
    expect(await ps(cwd)).toMatchObject([
      { kind: "run", state: "succeeded" },
      { kind: "sandbox", state: "dead" },
    ]);
    expect(outcomesOf(await clean(cwd, "--yes")).sort()).toEqual(ALL_OF_A_RUN);
    expect(leftovers(cwd)).toEqual([]);
    expect(subjectsOf(cwd, "b")).toEqual(["First", "Initial commit"]);
  });
});

describeWith(
  ["docker"],
  "clean after the SIGKILL of a process with a container in a lasting worktree",
  () => {
    it("keeps the worktree while the container may be running in it, and removes both if the run is named", async () => {
      const cwd = await killedWhileIdle({ provider: "docker", isInWorktree: true });
      const { exitCode } = await runCli(["clean", "--yes"], {
        cwd,
        env: { DOCKER_HOST: "unix:///nonexistent/docker.sock" },
      });
      expect(exitCode).toBe(0);
      expect(readdirSync(join(cwd, ".sanddune/worktrees")).length).toBeGreaterThan(1);
      const worktree = (await ps(cwd)).at(-1);
      expect(outcomesOf(await clean(cwd, "--yes", "--run", worktree?.runId ?? ""))).toContain(
        "removed sandbox",
      );
      expect(leftovers(cwd)).toEqual([]);
      expect(subjectsOf(cwd, "b")).toEqual(["First", "Initial commit"]);
    });
  },
);

/** What one of several processes that clean up at the same time has done. */
const cleanInProcess = async (cwd: string): Promise<CleanOutcome[]> => {
  const { stdout, stderr } = await runCliProcess(["clean", "--json", "--yes", "--records"], { cwd });
  if (stderr !== "") throw new Error(stderr);
  return JSON.parse(stdout);
};

describeWith(["bubblewrap"], "clean at the same time as", () => {
  it("other cleans and runs: each thing is removed once, nothing fails, and no commit is lost", async () => {
    const { cwd } = await deadRuns([{}, onBranch("other")]);
    const branches = ["b1", "b2"];
    let isOver = false;
    const cleanUntilOver = async () => {
      const outcomes: CleanOutcome[] = [];
      do outcomes.push(...(await cleanInProcess(cwd)));
      while (!isOver);
      return outcomes;
    };
    const cleaning = Promise.all([cleanUntilOver(), cleanInProcess(cwd)]);
    try {
      for (const branch of branches) await play(cwd, [{ commit: branch }], onBranch(branch));
    } finally {
      isOver = true;
    }
    const outcomes = (await cleaning).flat();
    expect(outcomes.filter(({ outcome }) => outcome !== "removed")).toEqual([]);
    expect(new Set(outcomes.map(({ name }) => name)).size).toBe(outcomes.length);
    expect(outcomesOf(outcomes).filter((outcome) => outcome === "removed sandbox")).toHaveLength(2);
    for (const branch of branches) expect(subjectsOf(cwd, branch)[0]).toBe(branch);
    await clean(cwd, "--yes", "--records");
    expect(await ps(cwd)).toEqual([]);
    expect(leftovers(cwd)).toEqual([]);
    git(cwd, "fsck", "--connectivity-only");
  });
});
