import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { shellQuote } from "../../src/tools/shellQuote.ts";
import { builtCli } from "../helpers/built.ts";
import { startTerminal } from "../helpers/processes/terminal.ts";
import { git } from "../helpers/repository/repository.ts";
import { describeWith } from "../helpers/runtimes/runtimes.ts";
import { runCli } from "./callCli.ts";
import { OBEDIENT_AGENT, repositoryWithAgent } from "./fixtures.ts";

const startRun = (cwd: string, ...flags: string[]) => {
  const args = ["run", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap", "--branch", "b"];
  const words = [process.execPath, builtCli(), ...args, "--prompt", "Fix it", ...flags];
  return startTerminal(words.map(shellQuote).join(" "), { cwd });
};

describeWith(["bubblewrap", "tmux"], "sanddune run at a terminal", () => {
  it("shows the run there, with its summary once, and sanddune logs prints the same run afterwards", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const terminal = startRun(cwd);
    expect(await terminal.ended()).toBe(0);
    const shown = terminal.history();
    expect(shown).toContain("Done.");
    expect(shown.match(/The run succeeded\./g)).toHaveLength(1);
    expect(shown.match(/^ *Branch +b$/gm)).toHaveLength(1);
    expect(shown).toContain(git(cwd, "log", "-1", "--format=%h %s", "b"));
    expect(shown).toMatch(/^ *Next +git diff HEAD\.\.\.b\n +git merge b$/m);
    expect(shown).not.toContain("Run log");
    const [run] = readdirSync(join(cwd, ".sanddune/runs")).filter((name) => !name.startsWith("."));
    const { stdout } = await runCli(["logs", run as string], { cwd });
    expect(stdout).toMatch(/Done\.[\s\S]*\n.*The run succeeded\./);
  });

  it("prints nothing but where the run log is with --logging file", async () => {
    const terminal = startRun(repositoryWithAgent(OBEDIENT_AGENT), "--logging", "file");
    expect(await terminal.ended()).toBe(0);
    expect(terminal.history()).toContain("Run log");
    expect(terminal.history()).not.toContain("The run succeeded.");
  });

  it("reports an error once", async () => {
    const terminal = startRun(repositoryWithAgent("echo 'out of credit' >&2; exit 3"));
    expect(await terminal.ended()).toBe(1);
    expect(terminal.history()).toContain("out of credit");
    expect(terminal.history().match(/The run failed\./g)).toHaveLength(1);
    expect(terminal.history()).not.toMatch(/^error: /m);
  });
});
