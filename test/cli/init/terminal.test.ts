import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { builtCli } from "../../helpers/built.ts";
import { startTerminal } from "../../helpers/processes/terminal.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { expectUntouched } from "../fixtures.ts";

const startInit = (cwd: string, ...flags: string[]) =>
  startTerminal([process.execPath, builtCli(), "init", ...flags].map(shellQuote).join(" "), {
    cwd,
    columns: 100,
    rows: 40,
  });

describeWith(["tmux"], "sanddune init at a terminal", () => {
  it("asks for what no flag says, and takes the answers", async () => {
    const cwd = temporaryRepository();
    const terminal = startInit(cwd, "--template", "parallel-planner");
    await terminal.shows("Which agent does the work?");
    terminal.press("Down");
    terminal.press("Enter");
    await terminal.shows("Which model does Codex use?");
    terminal.type("-mini");
    terminal.press("Enter");
    await terminal.shows("Which sandbox does it work in?");
    terminal.press("Enter");
    await terminal.shows("Where do its tasks come from?");
    terminal.press("Enter");
    await terminal.shows(/Build the image sanddune:\S+ now\?/);
    terminal.press("Right");
    terminal.press("Enter");
    expect(await terminal.ended()).toBe(0);
    await terminal.shows("Next steps:");
    expect(terminal.history()).not.toContain("Which template do you want to start from?");
    expect(JSON.parse(readFileSync(join(cwd, ".sanddune/config.json"), "utf8"))).toMatchObject({
      agent: "codex",
      model: "gpt-6-sol-mini",
      sandbox: "docker",
    });
    expect(existsSync(join(cwd, ".sanddune/plan-prompt.md"))).toBe(true);
    expect(terminal.isCursorVisible()).toBe(true);
  });

  it.each(["C-c", "Escape"])("creates nothing when the user cancels with %s", async (key) => {
    const cwd = temporaryRepository();
    const terminal = startInit(cwd, "--agent", "codex");
    await terminal.shows("Which model does Codex use?");
    terminal.press("Enter");
    await terminal.shows("Which sandbox does it work in?");
    terminal.press(key);
    expect(await terminal.ended()).toBe(130);
    await terminal.shows("error: Cancelled at the question: Which sandbox does it work in?");
    expectUntouched(cwd);
    expect(terminal.isCursorVisible()).toBe(true);
  });

  it("asks nothing with --yes", async () => {
    const cwd = temporaryRepository();
    const terminal = startInit(cwd, "--yes", "--no-build");
    expect(await terminal.ended()).toBe(0);
    expect(terminal.history()).not.toContain("?");
    expect(existsSync(join(cwd, ".sanddune/prompt.md"))).toBe(true);
  });
});
