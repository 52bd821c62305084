import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import type { CleanOutcome } from "../../../src/runs/clean/cleanUp.ts";
import { listRuns } from "../../../src/runs/listRuns.ts";
import { runCli } from "../../cli/callCli.ts";
import { repositoryWithAgent } from "../../cli/fixtures.ts";
import { clean, outcomesOf, ps } from "../../cli/runs/hangingRuns.ts";
import { commits, hang } from "../../helpers/agents/agentScripts.ts";
import { builtCli } from "../../helpers/built.ts";
import { killProcess } from "../../helpers/processes/killProcess.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { AS_TEST_USER, describeWith, TEST_IMAGE, TEST_USER } from "../../helpers/runtimes/runtimes.ts";
import { newSandboxName } from "../../sandboxes/openSandbox.ts";
import { type HangingRun, onBranch, useHangingRuns, worktreeFor } from "./deadRuns.ts";

const { deadRuns, startRuns } = useHangingRuns();

const docker = (...args: string[]): string => execFileSync("docker", args, { encoding: "utf8" }).trim();

describeWith(["bubblewrap", "docker"], "clean and containers", () => {
  it("keeps everything that an agent may still use while docker is unavailable, and cleans the rest; keeps containers of another repository", async () => {
    const elsewhere = await deadRuns([{ sandbox: "docker" }]);
    const { cwd, runs } = await deadRuns([{ sandbox: "docker" }, onBranch("other")]);
    const [unreachable, other] = runs;
    const { exitCode, stdout } = await runCli(["clean", "--yes", "--json"], {
      cwd,
      env: { DOCKER_HOST: "unix:///nowhere/docker.sock" },
    });
    expect(exitCode).toBe(0);
    const outcomes = JSON.parse(stdout) as CleanOutcome[];
    const of = ({ runId }: HangingRun) =>
      outcomesOf(outcomes.filter(({ runIds }) => runIds.includes(runId))).sort();
    expect(of(unreachable)).toEqual(["kept files", "kept ref", "kept sandbox", "kept worktree"]);
    expect(of(other)).toEqual(["removed files", "removed ref", "removed sandbox", "removed worktree"]);
    expect(outcomes.find(({ outcome }) => outcome === "kept")?.keptBecause).toMatch(/docker/i);
    expect(unreachable.isAgentAlive()).toBe(true);
    expect(existsSync(join(worktreeFor(cwd), "README.md"))).toBe(true);

    await clean(cwd, "--yes");
    expect(leftovers(cwd)).toEqual([]);
    await waitFor(() => !unreachable.isAgentAlive());
    expect(elsewhere.runs[0].isAgentAlive()).toBe(true);
  });

  it("keeps one with the name, but without the label", async () => {
    const { cwd, runs } = await deadRuns([{ sandbox: "docker" }]);
    const name = `sanddune-${runs[0].runId}`;
    docker("rm", "--force", name);
    docker("run", "--detach", "--name", name, TEST_IMAGE, "sleep", "600");
    const outcomes = await clean(cwd, "--yes");
    expect(outcomes.filter(({ what }) => what === "sandbox")).toEqual([]);
    expect(docker("inspect", "--format", "{{.State.Running}}", name)).toBe("true");
  });
});

describeWith(["docker"], "clean and a container of the user", () => {
  it("keeps it if it has the labels, which an image can set, but not the name", async () => {
    const cwd = realpathSync(temporaryRepository());
    const dead = { ...ownIdentity(), pid: 4_000_000 };
    const labels = { repository: cwd, run: "20260101-000000-abcdef", process: JSON.stringify(dead) };
    const flags = Object.entries(labels).flatMap(([key, value]) => ["--label", `sanddune.${key}=${value}`]);
    const id = docker("create", ...flags, "--name", newSandboxName(), TEST_IMAGE, "true");
    onTestFinished(() => void docker("rm", "--force", id));
    expect(await clean(cwd, "--yes")).toEqual([]);
    expect(docker("inspect", "--format", "{{.Id}}", id)).toBe(id);
  });
});

for (const engine of ["docker", "podman"] as const) {
  describeWith([engine], `clean and ${engine} containers whose journal is gone`, () => {
    it("finds them by their labels once their process is dead, and keeps those of other repositories", async () => {
      const elsewhere = await deadRuns([{ sandbox: engine }]);
      const { cwd, runs, die } = await startRuns([{ sandbox: engine }]);
      rmSync(join(cwd, ".sanddune/runs"), { recursive: true });
      const containers = async (...flags: string[]) =>
        (await clean(cwd, ...flags)).filter(({ what }) => what === "sandbox");
      expect(await containers("--yes")).toEqual([]);
      expect(runs[0].isAgentAlive()).toBe(true);

      await die();
      const name = `${engine} container sanddune-${runs[0].runId}`;
      expect(await containers()).toMatchObject([{ outcome: "wouldBeRemoved", name }]);
      expect(await containers("--yes")).toMatchObject([{ outcome: "removed", name }]);
      expect(await containers()).toEqual([]);
      await waitFor(() => !runs[0].isAgentAlive());
      expect(elsewhere.runs[0].isAgentAlive()).toBe(true);
    });
  });
}

it("clean keeps everything of a run with an unknown sandbox provider", async () => {
  const { cwd, runs } = await deadRuns([{ sandbox: "isolated", script: commits("unfinished") }]);
  const [{ runId }] = runs;
  const journal = join(cwd, ".sanddune/runs", runId, "journal.jsonl");
  const written = readFileSync(journal, "utf8");
  writeFileSync(journal, written.replace('"sandbox":"test-isolated"', '"sandbox":"elsewhere"'));
  for (const flags of [[], ["--run", runId]]) {
    const outcomes = await clean(cwd, "--yes", ...flags);
    expect(outcomes.filter(({ outcome, what }) => outcome !== "kept" && what !== "lock")).toEqual([]);
    expect(outcomes.find(({ what }) => what === "sandbox")?.keptBecause).toContain("elsewhere");
  }
  expect(existsSync(worktreeFor(cwd))).toBe(true);
  expect(await ps(cwd)).toMatchObject([{ runId, state: "dead" }]);

  // Now it knows it.
  writeFileSync(journal, written);
  await clean(cwd, "--yes", "--run", runId);
  expect(leftovers(cwd)).toEqual([]);
});

it("an isolated sandbox stays, with everything around it, until its run is named", async () => {
  const { cwd, temporary, runs } = await deadRuns([
    { sandbox: "isolated", script: "echo alone > alone.txt" },
  ]);
  const [{ runId, isAgentAlive }] = runs;
  const outcomes = await clean(cwd, "--yes");
  expect(outcomes.find(({ what }) => what === "sandbox")).toMatchObject({
    outcome: "kept",
    goesIfNamed: true,
    runIds: [runId],
  });
  expect(outcomesOf(outcomes)).toContain("kept worktree");
  expect(readdirSync(temporary)).toHaveLength(1);
  expect(isAgentAlive()).toBe(true);
  await clean(cwd, "--yes", "--run", runId);
  expect(readdirSync(temporary)).toEqual([]);
  await waitFor(() => !isAgentAlive());
  expect(leftovers(cwd)).toEqual([]);
});

/** The command line, where an ordinary user can read it. */
const readableCli = (): string => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  cpSync(dirname(builtCli()), join(directory, "dist"), { recursive: true });
  return join(directory, "dist/cli.js");
};

describeWith(["rootless podman"], "clean after the SIGKILL of a run in rootless podman", () => {
  it("removes the container, the worktree and the files of the run", async () => {
    const cli = readableCli();
    const cwd = repositoryWithAgent(`eval "$(cat)"\n`);
    execFileSync("chown", ["-R", TEST_USER, cwd]);
    const { line, isThere } = hang();
    const flags = ["--agent-command", "sh ./agent.sh", "--prompt", line, "--branch", "b"];
    const run = spawn(
      AS_TEST_USER ?? "",
      [process.execPath, cli, "run", ...flags, "--sandbox", "podman", "--image-name", TEST_IMAGE],
      { cwd, stdio: "ignore" },
    );
    await waitFor(isThere);
    const [running] = listRuns({ configDirectory: join(cwd, ".sanddune") });
    killProcess(running?.owner.pid);
    await once(run, "exit");
    const cleanAsUser = [process.execPath, cli, "clean", "--yes", "--json"];
    const stdout = execFileSync(AS_TEST_USER ?? "", cleanAsUser, { cwd, encoding: "utf8" });
    expect(outcomesOf(JSON.parse(stdout)).sort()).toEqual([
      "removed files",
      "removed ref",
      "removed sandbox",
      "removed worktree",
    ]);
    await waitFor(() => !isThere());
    expect(readdirSync(join(cwd, ".sanddune/worktrees"))).toEqual([".gitignore"]);
  });
});
