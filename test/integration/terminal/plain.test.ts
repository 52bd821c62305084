import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTerminal, type Terminal } from "../../helpers/processes/terminal.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { childRuns, sanddune } from "../run/childRuns.ts";

const AGENT = "echo first; echo second; git commit -q --allow-empty -m Work; echo third\n";

const repositoryWithAgent = (script = AGENT): string => {
  const cwd = temporaryRepository();
  writeFileSync(join(cwd, "agent.sh"), script);
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Add the agent");
  return cwd;
};

const cli = (...flags: string[]): string =>
  sanddune("run", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap", "--prompt", "x", ...flags);

const logsOf = (cwd: string): string[] => {
  const logs = join(cwd, ".sanddune/logs");
  return existsSync(logs) ? readdirSync(logs).filter((name) => name.endsWith(".log")) : [];
};

const lastSubject = (cwd: string): string => git(cwd, "log", "-1", "--format=%s");

const expectPlain = (terminal: Terminal): void => {
  expect(terminal.bytes()).not.toContain("\u001b");
  expect(terminal.bytes()).not.toMatch(/\r(?!\n)/);
};

describeWith(["bubblewrap", "tmux"], "terminal mode without a terminal's tricks", () => {
  it.each([
    ["with TERM=dumb", (command: string) => `TERM=dumb ${command}`],
    ["through a pipe", (command: string) => `${command} | cat`],
  ])("prints lines and no escape %s", async (_, dress) => {
    const cwd = repositoryWithAgent();
    const terminal = startTerminal(dress(cli("--logging", "stdout")), { cwd });
    await terminal.ended();
    expectPlain(terminal);
    expect(terminal.history()).toMatch(
      /^first\nsecond\nthird\n✓ The run succeeded\.\n {2}Branch +main\n {2}Commits +1\n/m,
    );
  });

  it("prints lines and no escape with NO_COLOR, and tells what takes long, where no status line can", async () => {
    const cwd = temporaryRepository();
    const hooks = { sandbox: { onSandboxReady: [{ command: "sleep 1.2" }] } };
    const run = childRuns({ cwd, hooks, steps: [{ text: "Hello." }], logging: { type: "stdout" } });
    const terminal = startTerminal(`NO_COLOR=1 ${run}`, { cwd });
    expect(await terminal.ended()).toBe(0);
    expectPlain(terminal);
    expect(terminal.history()).toMatch(
      /^Running the hooks onSandboxReady …\nRunning the hooks onSandboxReady: took \d+(\.\d)? s\.\nHello\.\n✓ The run succeeded\.$/m,
    );
  });

  const READER_GONE = "until [ -e gone ]; do sleep 0.02; done";
  it.each([
    [
      "the command line",
      (cwd: string) => {
        writeFileSync(join(cwd, "agent.sh"), AGENT.replace("echo third", `${READER_GONE}; echo third`));
        git(cwd, "commit", "--quiet", "--all", "--message", "Wait for the reader");
        return cli("--logging", "stdout");
      },
    ],
    [
      "run()",
      (cwd: string) =>
        childRuns({
          cwd,
          steps: [{ text: "first\nsecond" }, { shell: READER_GONE }, { text: "third" }, { commit: "Work" }],
          logging: { type: "stdout" },
        }),
    ],
  ])("a reader that has gone ends no run of %s and loses no commit", async (_, make) => {
    const cwd = repositoryWithAgent();
    const reader = "{ head -1; exec <&-; touch gone; }";
    const terminal = startTerminal(`{ ${make(cwd)}; echo "exit code $?" >&2; } | ${reader}`, { cwd });
    await terminal.ended();
    await terminal.shows(/^exit code 0$/m);
    expect(terminal.history()).toMatch(/^first$/m);
    expect(terminal.history()).not.toMatch(/EPIPE|^\s+at /m);
    expect(lastSubject(cwd)).toBe("Work");
  });
});

describeWith(["bubblewrap", "tmux"], "sanddune run", () => {
  /** The run is in a log, which the terminal tells of, and not at the terminal. */
  const expectLog = (cwd: string, terminal: Terminal): void => {
    expect(terminal.history().replaceAll("\n", "")).toContain("Run log: tail -f");
    expect(terminal.history()).not.toMatch(/^third$/m);
    const [log, ...others] = logsOf(cwd);
    expect(others).toEqual([]);
    expect(readFileSync(join(cwd, ".sanddune/logs", log ?? ""), "utf8")).toContain("\nthird\n");
  };

  it("shows the run at a terminal, and writes its log there, too", async () => {
    const cwd = repositoryWithAgent();
    const terminal = startTerminal(cli(), { cwd });
    expect(await terminal.ended()).toBe(0);
    expect(terminal.history()).toMatch(/^third\n✓ The run succeeded/m);
    expect(terminal.history()).not.toContain("tail -f");
    expect(logsOf(cwd)).toHaveLength(1);
  });

  it.each([
    ["its output goes elsewhere", (command: string) => `${command} > out.txt`, ["--head"]],
    ["it is asked to", (command: string) => command, ["--logging", "file"]],
  ])("writes a log when %s", async (_, dress, flags) => {
    const cwd = repositoryWithAgent();
    const terminal = startTerminal(dress(cli(...flags)), { cwd });
    expect(await terminal.ended()).toBe(0);
    expectLog(cwd, terminal);
  });

  it.each([
    ["", []],
    [" when terminal mode and every line are asked for", ["--logging", "stdout", "--verbose"]],
  ])("--json leaves one JSON object on stdout%s", async (_, flags) => {
    const cwd = repositoryWithAgent();
    const terminal = startTerminal(`${cli("--json", ...flags)} > .git/out.json`, { cwd });
    await terminal.ended();
    const answer = JSON.parse(readFileSync(join(cwd, ".git/out.json"), "utf8"));
    expect(Object.keys(answer)).not.toEqual([]);
    if (flags.length === 0) expectLog(cwd, terminal);
  });
});
