import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { clean, deadRun, hang, outcomesOf, startHangingRun } from "../cli/hangingRuns.ts";
import { temporaryDirectory } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { processIsAlive, waitFor } from "../helpers/waiting.ts";

/** The flags of a run whose host hook leaves something running. */
const leaving = (line: string): string[] => {
  const path = join(temporaryDirectory(), "hooks.json");
  const hooks = { host: { onWorktreeReady: [{ command: `setsid ${line} > /dev/null 2>&1 &` }] } };
  writeFileSync(path, JSON.stringify(hooks));
  return ["--hooks", path];
};

describeWith(["bubblewrap"], "what host hooks have left running", () => {
  it("is ended if the run is dead, and nothing else is", async () => {
    const [ofDead, ofRunning] = [hang(), hang()];
    const dead = await deadRun({ flags: ["--branch", "b", ...leaving(ofDead.line)] });
    const { cwd } = dead;
    const running = await startHangingRun({ cwd, flags: ["--branch", "other", ...leaving(ofRunning.line)] });
    const bystander = spawn("sleep", ["600"], { env: { ...process.env, SANDDUNE_EXEC_ID: "f".repeat(32) } });
    onTestFinished(() => void bystander.kill());
    expect(outcomesOf(await clean(cwd))).toContain("wouldBeRemoved processes");
    expect(ofDead.isThere()).toBe(true);
    expect(outcomesOf(await clean(cwd, "--yes"))).toContain("removed processes");
    await waitFor(() => !ofDead.isThere());
    expect(ofRunning.isThere()).toBe(true);
    expect(running.isAgentAlive()).toBe(true);
    expect(processIsAlive(bystander.pid ?? 0)).toBe(true);
    running.child.kill("SIGTERM");
    await running.result;
    expect(ofRunning.isThere()).toBe(false);
  });
});
