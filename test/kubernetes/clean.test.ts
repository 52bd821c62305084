import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { type CleanOutcome, cleanUp } from "../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../src/runs/findRepository.ts";
import { listRuns } from "../../src/runs/listRuns.ts";
import { bundle } from "../helpers/bundle.ts";
import { leftovers } from "../helpers/processes/leftovers.ts";
import { waitFor } from "../helpers/processes/waiting.ts";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWithCluster, IMAGE, kubectl, openPod, podExists } from "./cluster.ts";

const clean = async (cwd: string, runs: readonly string[] = []): Promise<CleanOutcome[]> =>
  cleanUp(await findRepository(cwd), { remove: true, runs, branches: [], records: false });

const sandboxesOf = (outcomes: readonly CleanOutcome[]) =>
  outcomes
    .filter(({ what }) => what === "sandbox")
    .map(({ name, outcome, keptBecause }) => ({ name, outcome, keptBecause }));

/** A run whose process was killed while the agent was at work. */
const orphan = async (leaseMs: number) => {
  const cwd = temporaryRepository();
  const program = bundle(join(import.meta.dirname, "runUntilKilled.ts"));
  const child = spawn(process.execPath, [program, cwd, IMAGE, String(leaseMs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await waitFor(() => said.includes("at work") || child.exitCode !== null, 60_000);
  expect(child.exitCode).toBeNull();
  child.kill("SIGKILL");
  await once(child, "exit");
  const [run] = listRuns(await findRepository(cwd));
  const pod = `sanddune-${run?.runId}`;
  onTestFinished(
    async () => void (await kubectl("delete", "pod", pod, "--ignore-not-found", "--wait=false")),
  );
  expect(run?.state).toBe("dead");
  return { cwd, runId: run?.runId ?? "", pod };
};

const phaseOf = (pod: string) => kubectl("get", "pod", pod, "--output", "jsonpath={.status.phase}");

describeWithCluster("clean and pods", () => {
  it("finds the pod of a dead run, and removes it when its run is named, because it may hold work", async () => {
    const { cwd, runId, pod } = await orphan(600_000);
    const name = `pod ${pod} in default of sanddune`;
    expect(sandboxesOf(await clean(cwd))).toEqual([
      { name, outcome: "kept", keptBecause: "the agent's latest work may exist only there" },
    ]);
    expect(await phaseOf(pod)).toBe("Running");
    expect(sandboxesOf(await clean(cwd, [runId]))).toMatchObject([{ name, outcome: "removed" }]);
    expect(await podExists(pod)).toBe(false);
    expect(leftovers(cwd)).toEqual([]);
    expect(await clean(cwd)).toEqual([]);
  });

  it("removes a pod that has ended by itself, because its lease was not renewed", async () => {
    const { cwd, pod } = await orphan(20_000);
    await waitFor(async () => (await phaseOf(pod)) === "Failed", 90_000);
    const exitCode = "jsonpath={.status.containerStatuses[0].state.terminated.exitCode}";
    expect(await kubectl("get", "pod", pod, "--output", exitCode)).toBe("86");
    expect(sandboxesOf(await clean(cwd))).toMatchObject([{ outcome: "removed" }]);
    expect(await podExists(pod)).toBe(false);
  });

  it("leaves a pod alone that has the name, but not the label", async () => {
    const { cwd, runId, pod } = await orphan(600_000);
    await kubectl("label", "pod", pod, "--overwrite", "sanddune.dev/run=another");
    expect(sandboxesOf(await clean(cwd, [runId]))).toEqual([]);
    expect(await podExists(pod)).toBe(true);
  });

  it("keeps everything while the cluster cannot be asked, and says how to name another kubeconfig", async () => {
    const { cwd, pod } = await orphan(600_000);
    vi.stubEnv("KUBECONFIG", join(temporaryDirectory(), "missing"));
    const outcomes = await clean(cwd);
    vi.unstubAllEnvs();
    expect(outcomes.filter(({ outcome, what }) => outcome !== "kept" && what !== "lock")).toEqual([]);
    expect(outcomes.find(({ what }) => what === "sandbox")?.keptBecause).toMatch(
      /no context sanddune.*KUBECONFIG=/s,
    );
    expect(await podExists(pod)).toBe(true);
  });
});

describeWithCluster("a lease", () => {
  it("is renewed for as long as the sandbox is in use", async () => {
    const sandbox = await openPod({ leaseMs: 10_000 });
    const { exitCode, stdout } = await sandbox.exec("sleep 45; echo still here");
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "still here\n" });
  });
});
