import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTerminal } from "../../helpers/processes/terminal.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { sanddune } from "../../integration/run/childRuns.ts";
import { begun, RUN_ID, runDirectory } from "../../runs/journal/journals.ts";
import { playHangingRun } from "./ownHangingRuns.ts";

describeWith(["tmux"], "sanddune ps --watch", () => {
  it("shows a run as it begins and as it ends, through a resize, and leaves a usable terminal", async () => {
    const cwd = temporaryRepository();
    const first = await playHangingRun(cwd, { branch: "agent/first-branch" });
    const terminal = startTerminal(sanddune("ps", "--watch"), { cwd, columns: 150 });
    const screenShows = (expected: RegExp) => waitFor(() => expected.test(terminal.screen()));
    await screenShows(new RegExp(`${first.runId} +running`));
    const second = await playHangingRun(cwd, { branch: "agent/second-branch" });
    await screenShows(new RegExp(`${second.runId} +running`));
    terminal.resize(60, 20);
    first.abort();
    await first.ended;
    await screenShows(new RegExp(`${first.runId} +aborted`));
    terminal.resize(150, 24);
    second.abort();
    await second.ended;
    await screenShows(new RegExp(`${second.runId} +aborted`));
    // Drawn in its place again and again, and not below.
    await waitFor(() => terminal.screen().match(/^RUN /gm)?.length === 1);
    expect(terminal.screen().match(new RegExp(first.runId, "g"))).toHaveLength(1);
    terminal.press("C-c");
    expect(await terminal.ended()).toBe(130);
    expect(terminal.isCursorVisible()).toBe(true);
  });
});

describeWith(["tmux"], "sanddune ps at a terminal", () => {
  it("that does not know its width shows whole lines", async () => {
    const cwd = temporaryRepository();
    runDirectory([begun()], join(cwd, ".sanddune/runs"));
    const terminal = startTerminal(`stty cols 0; ${sanddune("ps")}`, { cwd, columns: 150 });
    await terminal.shows(RUN_ID);
  });

  it.each([[["ps"]], [["ps", "--watch"]]])("is not steered by what runs are called (%j)", async (command) => {
    const cwd = temporaryRepository();
    const directory = join(cwd, ".sanddune/runs", RUN_ID);
    mkdirSync(directory, { recursive: true });
    const name = "\u001b]0;stolen title\u0007\u001b[2J\u001b]52;c;c3RvbGVu\u0007\u009b31m\nsecond line";
    writeFileSync(
      join(directory, "journal.jsonl"),
      `${JSON.stringify(begun({ name, sourceBranch: name }))}\n`,
    );
    const terminal = startTerminal(sanddune(...command), { cwd, columns: 250 });
    await terminal.shows("stolen title");
    expect(terminal.title()).not.toContain("stolen");
    expect(terminal.clipboard()).not.toContain("stolen");
    expect(terminal.bytes()).not.toContain("\u001b]");
    expect(terminal.bytes()).not.toContain("\u001b[2J");
    if (command.includes("--watch")) terminal.press("C-c");
    await terminal.ended();
  });
});
