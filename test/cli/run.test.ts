import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, temporaryDirectory } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { OBEDIENT_AGENT, repositoryWithAgent, subjectsOf } from "./fixtures.ts";
import { runCli } from "./startCli.ts";

const RUN = ["run", "--agent", "command", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap"];

describeWith(["bubblewrap"], "sanddune run", () => {
  test("prints branch, commits and log for people", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const { exitCode, stdout, stderr } = await runCli([...RUN, "--branch", "agent/a", "--prompt", "Fix it"], {
      cwd,
    });
    expect(exitCode).toBe(0);
    const sha = git(cwd, "rev-parse", "agent/a");
    expect(stdout).toMatch(/^Branch +agent\/a$/m);
    expect(stdout).toContain(sha);
    expect(stdout).toContain("<promise>COMPLETE</promise>");
    const [, logFilePath = ""] = /^Log +(.+)$/m.exec(stdout) ?? [];
    expect(readFileSync(logFilePath, "utf8")).toContain("Done.");
    expect(stderr).toContain("bubblewrap");
    expect(stderr).not.toContain("error");
  });

  test("--json prints the result as one object, everything else goes to stderr", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const { exitCode, stdout } = await runCli(
      [...RUN, "--branch", "agent/a", "--prompt", "Fix it", "--json"],
      { cwd },
    );
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({
      branch: "agent/a",
      commits: [{ sha: git(cwd, "rev-parse", "agent/a") }],
      completionSignal: "<promise>COMPLETE</promise>",
      iterations: [{}],
      warnings: [],
      protectedPaths: [],
    });
  });

  test("takes the prompt from standard input, whole and unchanged", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const prompt = `Line 1 'quoted' $HOME\n${"ü".repeat(300_000)}\n`;
    const { exitCode } = await runCli([...RUN, "--branch", "b", "--prompt", "-"], { cwd, stdin: prompt });
    expect(exitCode).toBe(0);
    expect(`${git(cwd, "show", "b:prompt.txt")}\n`).toBe(prompt);
  });

  test("takes the prompt from a file, relative to where it was started", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const elsewhere = temporaryDirectory();
    writeFileSync(join(elsewhere, "task.md"), "From a file\n");
    const { exitCode } = await runCli([...RUN, "--cwd", cwd, "--branch", "b", "--prompt-file", "task.md"], {
      cwd: elsewhere,
    });
    expect(exitCode).toBe(0);
    expect(git(cwd, "show", "b:prompt.txt")).toBe("From a file");
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

  test("--from, --copy, --completion-signal and --max-iterations reach the run", async () => {
    const cwd = repositoryWithAgent(
      `echo again >> count; cat local/setting; [ "$(wc -l < count)" -lt 2 ] || echo STOP; git add count; git commit -qm Count`,
    );
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Later");
    mkdirSync(join(cwd, "local"));
    writeFileSync(join(cwd, "local/setting"), "on\n");
    const { exitCode, stdout } = await runCli(
      [
        ...RUN,
        ...["--branch", "b", "--from", "main~1", "--copy", "local", "--prompt", "Count", "--json"],
        ...["--completion-signal", "HALT", "--completion-signal", "STOP", "--max-iterations", "5"],
      ],
      { cwd },
    );
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ completionSignal: "STOP", stdout: "on\non\nSTOP\n" });
    expect(result.iterations).toHaveLength(2);
    expect(subjectsOf(cwd, "b")).toEqual(["Count", "Count", "Add the agent", "Initial commit"]);
    expect(exitCode).toBe(0);
  });

  test("a failing agent: exit code 1, and the error tells what was reached", async () => {
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

  test("a failing agent, for people: all on stderr", async () => {
    const cwd = repositoryWithAgent(`${OBEDIENT_AGENT}\nexit 3\n`);
    const { exitCode, stdout, stderr } = await runCli([...RUN, "--branch", "b", "--prompt", "Fix it"], {
      cwd,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(git(cwd, "rev-parse", "b"));
    expect(stderr).toMatch(/^Log +\//m);
  });

  test("what the agent prints does not reach the terminal as control characters", async () => {
    const cwd = repositoryWithAgent(`printf '\\033]0;owned\\007' >&2; exit 1`);
    const { stderr } = await runCli([...RUN, "--branch", "b", "--prompt", "Fix it"], { cwd });
    expect(stderr).toContain("owned");
    expect(stderr).not.toContain("\u001b");
  });
});

for (const engine of ["docker", "podman"] as const) {
  describeWith([engine], `sanddune run --sandbox ${engine}`, () => {
    test("works in a container of the named image", async () => {
      const cwd = repositoryWithAgent(OBEDIENT_AGENT);
      const agent = ["--agent-command", "sh ./agent.sh", "--branch", "b", "--prompt", "Fix it"];
      const sandbox = ["--sandbox", engine, "--image-name", TEST_IMAGE, "--network", "none"];
      const { exitCode, stderr } = await runCli(["run", ...agent, ...sandbox], { cwd });
      expect(stderr).not.toContain("error");
      expect(exitCode).toBe(0);
      expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
    });
  });
}
