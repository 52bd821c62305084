import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createSandbox, run, scripted } from "../../../src/index.ts";
import { macosSystem } from "../../../src/process/host/macos.ts";
import { useHostSystem } from "../../../src/process/host/system.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { runCli } from "../../cli/callCli.ts";
import { newMark } from "../../faults/run/hookScenes.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

const branchStrategy = { type: "branch", branch: "agent/x" } as const;

describe("on a host without /proc", () => {
  /** The options of the two programs differ in a letter. */
  const withoutProc = (): void => {
    onTestFinished(
      useHostSystem(macosSystem({ environmentOption: process.platform === "linux" ? "e" : "-E" })),
    );
  };

  it("a run puts commits on its branch, and leaves nothing else behind", async () => {
    withoutProc();
    const cwd = temporaryRepository();
    const agent = scripted([{ commit: "Add a", files: { "a.txt": "a\n" } }]);
    const { commits } = await run({ agent, sandbox: testIsolated(), cwd, branchStrategy, prompt: "x" });
    expect(commits).toHaveLength(1);
    expect(git(cwd, "log", "-1", "--format=%s", "agent/x")).toBe("Add a");
    expect(leftovers(cwd)).toEqual([]);
  });

  it("an abort ends the agent with what it has started in the background", async () => {
    withoutProc();
    const cwd = temporaryRepository();
    const mark = newMark();
    const controller = new AbortController();
    const agent = scripted([{ shell: `sh -c 'sleep 1000 & sleep 1000; : ${mark}' & sleep 1000; : ${mark}` }]);
    const running = run({
      agent,
      sandbox: testIsolated(),
      cwd,
      branchStrategy,
      prompt: "x",
      signal: controller.signal,
    });
    await waitFor(() => processesWith(mark).length > 0);
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await waitFor(() => processesWith(mark).length === 0);
  });

  it("a branch in use is refused, and a finished run is no longer running", async () => {
    withoutProc();
    const cwd = temporaryRepository();
    const sandbox = await createSandbox({ branch: "agent/x", sandbox: testIsolated(), cwd });
    await expect(
      run({ agent: scripted([]), sandbox: testIsolated(), cwd, branchStrategy, prompt: "x" }),
    ).rejects.toMatchObject({ name: "BranchInUseError" });
    await sandbox.close();
    const { stdout } = await runCli(["ps", "--json"], { cwd });
    expect(stdout).not.toContain('"running"');
  });
});

it("a run works where the checkout and the temporary directory are reached through links, as /var is on macOS", async () => {
  const real = temporaryDirectory();
  mkdirSync(join(real, "tmp"));
  symlinkSync(join(real, "tmp"), join(real, "var"));
  symlinkSync(temporaryRepository(), join(real, "repo"));
  vi.stubEnv("TMPDIR", join(real, "var"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const agent = scripted([{ commit: "Add a", files: { "a.txt": "a\n" } }]);
  const cwd = join(real, "repo");
  const { commits } = await run({
    agent,
    sandbox: testIsolated(),
    cwd,
    branchStrategy: { type: "merge-to-head" },
    prompt: "x",
  });
  expect(commits).toHaveLength(1);
  expect(git(cwd, "log", "-1", "--format=%s")).toBe("Add a");
  expect(leftovers(cwd)).toEqual([]);
});
