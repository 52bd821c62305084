import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { OBEDIENT_AGENT, repositoryWithAgent, subjectsOf } from "../fixtures.ts";

const RUN = ["run", "--agent", "command", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap"];

describeWith(["bubblewrap"], "sanddune run", () => {
  test("prints branch, commits and log for people", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const { exitCode, stdout, stderr } = await runCli([...RUN, "--branch", "agent/a", "--prompt", "Fix it"], {
      cwd,
    });
    expect(exitCode).toBe(0);
    const commit = git(cwd, "log", "-1", "--format=%h %s", "agent/a");
    expect(stdout).toMatch(/^Branch +agent\/a$/m);
    expect(stdout).toContain(commit);
    expect(stdout).toMatch(/^Next +git diff HEAD\.\.\.agent\/a\n +git merge agent\/a$/m);
    expect(stdout).toContain("<promise>COMPLETE</promise>");
    const [, logFilePath = ""] = /^Log +(.+)$/m.exec(stdout) ?? [];
    expect(readFileSync(logFilePath, "utf8")).toContain("Done.");
    expect(stderr).toContain("bubblewrap");
    expect(stderr).not.toContain("error");
  });

  test("takes the prompt after the command, where a hyphen is standard input", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    for (const [branch, argument, stdin] of [
      ["a", "Fix it", ""],
      ["b", "-", "Fix it"],
    ] as const) {
      expect(await runCli([...RUN, "--branch", branch, argument], { cwd, stdin })).toMatchObject({
        exitCode: 0,
      });
      expect(git(cwd, "show", `${branch}:prompt.txt`)).toBe("Fix it");
    }
  });

  test("takes .sanddune/prompt.md where no prompt is given, fills it in, and says so", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, ".sanddune/prompt.md"), "Fix {{WHAT}}");
    const flags = ["--branch", "b", "--prompt-arg", "WHAT=it"];
    const { exitCode, stderr } = await runCli([...RUN, ...flags], { cwd });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(" on .sanddune/prompt.md …");
    expect(git(cwd, "show", "b:prompt.txt")).toBe("Fix it");
    // A prompt of the user's own comes first.
    await runCli([...RUN, "--branch", "c", "Fix that"], { cwd });
    expect(git(cwd, "show", "c:prompt.txt")).toBe("Fix that");
  });

  test("takes the prompt from standard input, whole and unchanged", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const prompt = `Line 1 'quoted' $HOME\n${"ü".repeat(300_000)}\n`;
    const { exitCode } = await runCli([...RUN, "--branch", "b", "--prompt", "-"], { cwd, stdin: prompt });
    expect(exitCode).toBe(0);
    expect(`${git(cwd, "show", "b:prompt.txt")}\n`).toBe(prompt);
  });

  test("--merge-to-head and --head bring the commits to the current branch", async () => {
    for (const flag of ["--merge-to-head", "--head"]) {
      const cwd = repositoryWithAgent(OBEDIENT_AGENT);
      const { exitCode, stdout } = await runCli([...RUN, flag, "--prompt", "Fix it"], { cwd });
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^Branch +main$/m);
      expect(subjectsOf(cwd, "main")[0]).toBe("Do what was asked");
      expect(readFileSync(join(cwd, "prompt.txt"), "utf8")).toBe("Fix it");
      expect(git(cwd, "status", "--porcelain", "--ignored=no")).toBe("");
    }
  });

  test("--json prints the result as one object; --prompt-file, relative to where it was started, --from, --copy, --completion-signal and --max-iterations reach the run", async () => {
    const cwd = repositoryWithAgent(
      `cat; echo again >> count; cat local/setting; [ "$(wc -l < count)" -lt 2 ] || echo STOP; git add count; git commit -qm Count`,
    );
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Later");
    mkdirSync(join(cwd, "local"));
    writeFileSync(join(cwd, "local/setting"), "on\n");
    const elsewhere = temporaryDirectory();
    writeFileSync(join(elsewhere, "task.md"), "From a file\n");
    const { exitCode, stdout } = await runCli(
      [
        ...RUN,
        ...["--cwd", cwd, "--branch", "b", "--from", "main~1", "--copy", "local"],
        ...["--prompt-file", "task.md", "--json"],
        ...["--completion-signal", "HALT", "--completion-signal", "STOP", "--max-iterations", "5"],
      ],
      { cwd: elsewhere },
    );
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({
      branch: "b",
      commits: [{ sha: git(cwd, "rev-parse", "b~1") }, { sha: git(cwd, "rev-parse", "b") }],
      completionSignal: "STOP",
      iterations: [{}, {}],
      stdout: "From a file\non\nFrom a file\non\nSTOP\n",
      warnings: [],
      protectedPaths: [],
    });
    expect(subjectsOf(cwd, "b")).toEqual(["Count", "Count", "Add the agent", "Initial commit"]);
  });

  test("a failing agent: exit code 1, and the error has the results until then", async () => {
    const cwd = repositoryWithAgent(
      `${OBEDIENT_AGENT}\necho half > done.txt\necho 'out of credit' >&2\nexit 3\n`,
    );
    const { exitCode, stdout, stderr } = await runCli(
      [...RUN, "--branch", "b", "--prompt", "Fix it", "--json"],
      { cwd },
    );
    expect(exitCode).toBe(1);
    const { error } = JSON.parse(stdout);
    expect(error).toMatchObject({
      name: "AgentFailedError",
      message: expect.stringContaining("out of credit"),
      exitCode: 3,
      branch: "b",
      commits: [{ sha: git(cwd, "rev-parse", "b") }],
    });
    expect(existsSync(error.logFilePath)).toBe(true);
    expect(readFileSync(join(error.preservedWorktreePath, "done.txt"), "utf8")).toBe("half\n");
    expect(stderr.match(/error: /g)).toHaveLength(1);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test("a failing agent, for people: all on stderr, and no control characters of the agent", async () => {
    const cwd = repositoryWithAgent(`${OBEDIENT_AGENT}\nprintf '\\033]0;owned\\007' >&2; exit 3\n`);
    const { exitCode, stdout, stderr } = await runCli([...RUN, "--branch", "b", "--prompt", "Fix it"], {
      cwd,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(git(cwd, "log", "-1", "--format=%h %s", "b"));
    expect(stderr).toMatch(/^Log +\//m);
    expect(stderr).toContain("owned");
    expect(stderr).not.toContain("\u001b");
  });
});
