import { expect, it } from "vitest";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { builtCli } from "../../helpers/built.ts";
import { startTerminal } from "../../helpers/processes/terminal.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { playHangingRun } from "./ownHangingRuns.ts";

describeWith(["tmux"], "sanddune stop at a terminal", () => {
  it("asks which of several runs is meant, and stops that one", async () => {
    const cwd = temporaryRepository();
    const first = await playHangingRun(cwd, { branch: "one" });
    const second = await playHangingRun(cwd, { branch: "two" });
    const command = [process.execPath, builtCli(), "stop"].map(shellQuote).join(" ");
    const terminal = startTerminal(`${command}; sleep 600`, { cwd, columns: 100, rows: 20 });
    await terminal.shows(/Which run do you want to stop\?/);
    // The newest is the first in the list.
    terminal.press("Enter");
    await terminal.shows(new RegExp(`Run ${second.runId} has stopped`));
    expect([first.isAgentAlive(), second.isAgentAlive()]).toEqual([true, false]);
  });
});
