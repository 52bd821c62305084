import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commits } from "../../helpers/agents/agentScripts.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { OBEDIENT_AGENT, repositoryWithAgent, subjectsOf } from "../fixtures.ts";
import { startCli } from "../startCli.ts";
import { sandboxFlags, startHangingRun } from "./hangingRuns.ts";

describeWith(["bubblewrap"], "stopping sanddune run", () => {
  // Ctrl-C, with 130: test/integration/terminal/terminal.test.ts.
  test("SIGTERM ends the agent, keeps its commits and exits with 143", async () => {
    const { cwd, child, result, isAgentAlive } = await startHangingRun({ script: commits("kept") });
    child.kill("SIGTERM");
    const { exitCode, stdout, stderr } = await result;
    expect(exitCode).toBe(143);
    expect(stderr).toContain("SIGTERM");
    expect(JSON.parse(stdout).error).toMatchObject({ name: "StoppedError", signal: "SIGTERM" });
    expect(isAgentAlive()).toBe(false);
    expect(subjectsOf(cwd, "b")[0]).toBe("kept");
    expect(readdirSync(join(cwd, ".git/sanddune/locks"))).toEqual([]);
  });

  test("a second SIGINT does not wait for the tidying up", async () => {
    const bin = temporaryDirectory();
    const blocker = join(bin, "blocked");
    const path = process.env["PATH"];
    // Tidying up takes git, which never comes back once the file is there.
    const script = `#!/bin/sh\nPATH=${path}\nwhile [ -e ${blocker} ]; do sleep 0.1; done\nexec git "$@"\n`;
    writeFileSync(join(bin, "git"), script, { mode: 0o755 });
    const { child, result } = await startHangingRun({ env: { PATH: `${bin}:${path}` } });
    writeFileSync(blocker, "");
    const again = setInterval(() => child.kill("SIGINT"), 50);
    const { exitCode, stdout } = await result;
    clearInterval(again);
    rmSync(blocker);
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: "" });
    await waitFor(() => processesWith(bin).length === 0);
  });

  test("a reader of stdout that has gone is no failure", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const flags = ["--agent-command", "sh ./agent.sh", "--branch", "b", "--prompt", "Fix it", "--json"];
    const { child, result } = startCli(["run", ...flags, ...sandboxFlags("bubblewrap")], { cwd });
    child.stdout?.destroy();
    const { exitCode, stderr } = await result;
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(/EPIPE|^\s+at /m);
    expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
  });
});
