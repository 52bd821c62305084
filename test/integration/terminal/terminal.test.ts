import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ScriptedStep } from "../../../src/index.ts";
import { startTerminal, type Terminal } from "../../helpers/processes/terminal.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { type ChildRun, childRuns, linesThatStay, sanddune } from "../run/childRuns.ts";

const TERMINAL_MODE = { type: "stdout" } as const;
const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;

/** Scripted agents wait here until the test lets them go on. */
const gate = () => {
  const directory = temporaryDirectory();
  return {
    shared: directory,
    wait: { shell: `until [ -e ${directory}/go ]; do sleep 0.02; done` } satisfies ScriptedStep,
    open: () => writeFileSync(join(directory, "go"), ""),
  };
};

const COMMIT: ScriptedStep = { commit: "Add a greeting", files: { "hello.txt": "hello\n" } };

/** A shell has a line with its prompt before everything that a program prints. */
const inShell = (command: string): string => `echo '$ start'; ${command}`;

const play = (run: Omit<ChildRun, "cwd" | "logging">) => {
  const cwd = temporaryRepository();
  const command = childRuns({ cwd, logging: TERMINAL_MODE, ...run });
  return { cwd, terminal: startTerminal(inShell(command), { cwd }) };
};

describeWith(["bubblewrap", "tmux"], "a run in terminal mode", () => {
  it("shows what the agent says and does, a status line below it, and a summary at the end, and styles what it shows", async () => {
    const { wait, open, shared } = gate();
    const { terminal, cwd } = play({
      shared,
      steps: [{ text: "On it." }, COMMIT, wait, { text: "Done." }],
    });
    await terminal.shows(/working · [1-9]/);
    const rows = terminal.screen().split("\n");
    expect(rows.slice(-4, -1)).toEqual([
      "On it.",
      expect.stringMatching(/^→ commit .*Add a greeting/),
      expect.stringMatching(/^→ shell until/),
    ]);
    expect(rows.at(-1)).toMatch(/^\S .*scripted is working · [\d.]+ s · 2 tool calls$/);
    open();
    expect(await terminal.ended()).toBe(0);
    expect(terminal.screen()).toMatch(
      new RegExp(
        [
          "Done\\.",
          "✓ The run succeeded\\.",
          "  Branch +main",
          "  Commits +1",
          ` +${git(cwd, "rev-parse", "--short", "HEAD")} Add a greeting`,
          "  Changes +1 file, \\+1 -0",
          " +\\+1 -0 +hello.txt",
          "  Iterations +1",
          "  Tool calls +2",
          "  Duration +\\d+(\\.\\d)? s",
          "  Log +.*sanddune logs [-\\da-f]+$",
        ].join("\n"),
      ),
    );
    expect(terminal.screen()).not.toMatch(SPINNER);
    expect(terminal.bytes()).toContain("\u001b[32m✓ The run succeeded.\u001b[0m");
    expect(terminal.bytes()).toContain("\u001b[36m→ shell\u001b[0m");
    expect(terminal.bytes()).toMatch(/\nOn it\.\r|KOn it\.\r/);
  });

  it("says in which iteration it is, and leaves no status line behind, however much is printed", async () => {
    const steps = Array.from({ length: 60 }, (_, number) => ({ text: `line ${number}` }));
    const { terminal } = play({ steps: [...steps, { sleepMs: 300 }], maxIterations: 2 });
    await terminal.ended();
    expect(terminal.history()).not.toMatch(SPINNER);
    expect(terminal.history()).toMatch(
      /Iteration 1 .*\nline 0\nline 1\n[\s\S]*line 59\nIteration 2 .*\nline 0\nline 1\n[\s\S]*line 59\n✓/,
    );
  });

  it("leaves no status line behind above the screen when it starts at the top", async () => {
    const cwd = temporaryRepository();
    const run = childRuns({ cwd, logging: TERMINAL_MODE, steps: [{ text: "Hello." }] });
    const terminal = startTerminal(run, { cwd });
    await terminal.ended();
    expect(terminal.history()).toContain("Hello.");
    expect(terminal.history()).not.toMatch(SPINNER);
  });

  it("shares the bottom of the terminal with runs beside it", async () => {
    const cwd = temporaryRepository();
    const { wait, open, shared } = gate();
    const names = ["one", "two", "three"];
    const runs = names.map((name) => ({
      ...{ cwd, name, branch: name, shared, logging: TERMINAL_MODE },
      steps: [{ text: `I am ${name}.\nReally.` }, wait, { text: "Bye." }],
    }));
    const terminal = startTerminal(inShell(childRuns(...runs)), { cwd });
    for (const name of names) await terminal.shows(`[${name}] Really.`);
    await terminal.shows(/working · [1-9]/);
    const bottom = terminal.screen().split("\n").slice(-3);
    for (const name of names)
      expect(bottom).toContainEqual(expect.stringMatching(`^\\S \\[${name}\\] .*working`));
    open();
    expect(await terminal.ended()).toBe(0);
    expect(terminal.history()).not.toMatch(SPINNER);
    for (const row of terminal.history().split("\n").slice(1)) expect(row).toMatch(/^\[(one|two|three)\] /);
  });

  it("survives a terminal that gets narrower, and wider again", async () => {
    const { wait, open, shared } = gate();
    const { terminal } = play({
      shared,
      steps: [
        { text: "kept\nalso kept" },
        { shell: ": a tool call that is quite long, but not too long" },
        wait,
      ],
    });
    await terminal.shows("2 tool calls");
    for (const columns of [50, 30, 24, 60, 80]) {
      terminal.resize(columns, 24);
      const seen = terminal.bytes().length;
      await waitFor(() => terminal.bytes().length > seen + 500);
    }
    open();
    await terminal.ended();
    expect(terminal.history()).toMatch(/^kept\nalso kept\n→ shell/m);
    expect(terminal.history()).not.toMatch(SPINNER);
  });

  it("can be read in a terminal that does not say how large it is", async () => {
    const cwd = temporaryRepository();
    const run = childRuns({ cwd, logging: TERMINAL_MODE, steps: [{ text: "Hello." }, { sleepMs: 300 }] });
    const terminal = startTerminal(inShell(`stty rows 0 cols 0; ${run}`), { cwd });
    await terminal.ended();
    expect(terminal.history()).toMatch(/Hello\.\n✓ The run succeeded/);
    expect(terminal.bytes()).not.toContain("nfinity");
  });

  it("leaves the terminal as it was", async () => {
    const cwd = temporaryRepository();
    const terminal = startTerminal("PS1='ready> ' exec sh -i", { cwd });
    const run = childRuns({ cwd, logging: TERMINAL_MODE, steps: [{ text: "Hello." }, { sleepMs: 200 }] });
    await terminal.shows("ready>");
    terminal.type(
      `stty -a > .git/before; ${run}; stty -a > .git/after; cmp .git/before .git/after && echo sa''me`,
    );
    terminal.press("Enter");
    await terminal.shows(/^same$/m);
    expect(terminal.isCursorVisible()).toBe(true);
    terminal.type("echo typed is shown");
    await terminal.shows(/^ready> echo typed is shown$/m);
    terminal.press("Enter");
    await terminal.shows(/^typed is shown$/m);
  });
});

describeWith(["bubblewrap", "tmux"], "sanddune run at a terminal", () => {
  const startCli = (script: string, ...flags: string[]) => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "agent.sh"), script);
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Add the agent");
    const basics = ["--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap", "--prompt", "x"];
    return { cwd, terminal: startTerminal(inShell(sanddune("run", ...basics, ...flags)), { cwd }) };
  };

  const expectNoWideLine = (terminal: Terminal): void =>
    // From a clone the program is named by its path.
    expect(
      linesThatStay(terminal.bytes()).filter((line) => line.length > 80 && !line.includes("dist/cli.js")),
    ).toEqual([]);

  it("is told about Ctrl-C, shows what was reached, and leaves no status line behind", async () => {
    const { terminal, cwd } = startCli("git commit -q --allow-empty -m Half; echo ready; sleep 1000");
    await terminal.shows(/^ready$/m);
    terminal.press("C-c");
    expect(await terminal.ended()).toBe(130);
    expect(terminal.history()).toMatch(/SIGINT: stopping the agent/);
    expect(terminal.history()).toMatch(/■ The run was aborted\.\n {2}Branch +main\n {2}Commits +1\n/);
    expect(terminal.screen()).not.toMatch(SPINNER);
    expect(git(cwd, "log", "-1", "--format=%s")).toBe("Half");
    expectNoWideLine(terminal);
  });

  it("tells once why a run failed, and prints no line of its own that is wider than 80 columns", async () => {
    const { terminal } = startCli("echo ready; exit 3");
    expect(await terminal.ended()).toBe(1);
    expect(terminal.history().match(/exit\s+code 3/g)).toHaveLength(1);
    expectNoWideLine(terminal);
  });

  it.each([
    ["succeeds", "mkdir .husky; echo x > .husky/pre-commit; git add .; git commit -qm x; echo ready"],
    ["fails", "echo ready; exit 3"],
  ])(
    "prints no line of its own that is wider than 80 columns in a run with a name that %s",
    async (_, script) => {
      const { terminal } = startCli(script, "--name", "parallel-run-7");
      await terminal.shows(/ready$/m);
      await terminal.ended();
      expectNoWideLine(terminal);
    },
  );
});
