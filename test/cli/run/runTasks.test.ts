import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { builtCli } from "../../helpers/built.ts";
import { startTerminal } from "../../helpers/processes/terminal.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { expectUntouched, subjectsOf, until } from "../fixtures.ts";
import { startCli } from "../startCli.ts";

/** Commits a file that is called as the prompt says, unless that is to fail. */
const AGENT = `
task=$(cat)
[ "$task" = fail ] && { echo 'out of credit' >&2; exit 3; }
echo "$task" > "$task.txt"
git add . && git commit --quiet -m "Do $task"
`;

const repositoryOf = (script = AGENT): string => {
  const cwd = temporaryRepository();
  writeFileSync(join(cwd, "agent.sh"), script);
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Add the agent");
  return cwd;
};

const RUN = ["run", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap"];

const linesOf = (...tasks: object[]): string => tasks.map((task) => `${JSON.stringify(task)}\n`).join("");

/** A file outside of the repository: it would be seen as a change of it. */
const taskFile = (text: string): string => {
  const path = join(temporaryDirectory(), "tasks.jsonl");
  writeFileSync(path, text);
  return path;
};

const parsed = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describeWith(["bubblewrap"], "sanddune run --tasks", () => {
  it("does each line of a file, shows a table, and exits with 0 only if all succeeded", async () => {
    const cwd = repositoryOf();
    const good = linesOf({ prompt: "one", branch: "a/one", name: "first" }, { prompt: "two" });
    const args = [...RUN, "--merge-to-head", "--concurrency", "2", "--tasks"];
    const fine = await runCli([...args, taskFile(good)], { cwd });
    expect(fine.exitCode).toBe(0);
    expect(fine.stdout).toMatch(/^TASK +STATE +BRANCH +COMMITS +TOKENS +TIME$/m);
    expect(fine.stdout).toMatch(/^first +succeeded +a\/one +1 +- +\S+ s$/m);
    expect(fine.stdout).toMatch(/^task 2 +succeeded +main +1 /m);
    expect(fine.stdout).toMatch(/^2 succeeded$/m);
    expect(subjectsOf(cwd, "a/one")[0]).toBe("Do one");
    expect(subjectsOf(cwd, "main")[0]).toBe("Do two");

    const bad = linesOf({ prompt: "fail", name: "poor" }, { prompt: "three" });
    const { exitCode, stdout, stderr } = await runCli([...args, taskFile(bad)], { cwd });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^poor +failed /m);
    expect(stdout).toMatch(/^1 succeeded, 1 failed$/m);
    expect(stderr).toMatch(/✗ poor {2}failed/);
    expect(stderr).toContain("out of credit");
    expect(stderr).toMatch(/log: .*\.log/);
    expect(stderr).not.toContain("Run log: tail");
    expect(subjectsOf(cwd, "main")[0]).toBe("Do three");
    const ps = await runCli(["ps", "--json"], { cwd });
    expect(
      JSON.parse(ps.stdout)
        .map(({ name }: { name: string }) => name)
        .sort(),
    ).toEqual(["first", "poor", "task 2", "task 2"]);
  });

  it("takes from the flags what a line leaves out, and from the line what it says", async () => {
    const cwd = repositoryOf('cat > prompt.txt; echo "$KIND" > kind.txt; git add .; git commit -qm Work');
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "shared.md"), "Do {{WHAT}} in {{WHERE}}");
    const stdin = linesOf(
      { branch: "defaults", promptArgs: { WHAT: "this" } },
      { branch: "own-prompt", prompt: "-" },
      { branch: "own-agent", agentCommand: "git commit -q --allow-empty -m 'Another agent'" },
      { mergeToHead: true, prompt: "merged" },
    );
    const flags = [
      "--prompt-file",
      join(directory, "shared.md"),
      "--prompt-arg",
      "WHERE=here",
      "--env",
      "KIND",
    ];
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Later");
    const args = [...RUN, "--prompt-arg", "WHAT=that", ...flags, "--from", "HEAD~1", "--tasks", "-"];
    const { exitCode, stderr } = await runCli(args, { cwd, stdin, env: { KIND: "odd" } });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(git(cwd, "show", "defaults:prompt.txt")).toBe("Do this in here");
    expect(git(cwd, "show", "defaults:kind.txt")).toBe("odd");
    expect(git(cwd, "show", "own-prompt:prompt.txt")).toBe("-");
    expect(subjectsOf(cwd, "own-agent")).toEqual(["Another agent", "Add the agent", "Initial commit"]);
    expect(subjectsOf(cwd, "main")).toContain("Later");
    expect(git(cwd, "show", "main:prompt.txt")).toBe("merged");
  });

  it("--json prints one line for each task as soon as it is over, and nothing else", async () => {
    const cwd = repositoryOf();
    const text = linesOf({ prompt: "one", branch: "one" }, { prompt: "fail", branch: "two", name: "poor" });
    const { exitCode, stdout } = await runCli([...RUN, "--json", "--tasks", taskFile(`\n${text}`)], { cwd });
    expect(exitCode).toBe(1);
    const outcomes = parsed(stdout).sort((a, b) => a.index - b.index);
    expect(outcomes).toEqual([
      expect.objectContaining({
        line: 2,
        index: 0,
        name: "task 1",
        state: "succeeded",
        attempts: 1,
        branch: "one",
        commits: [{ sha: git(cwd, "rev-parse", "one") }],
        lost: [],
      }),
      expect.objectContaining({
        line: 3,
        name: "poor",
        state: "failed",
        error: expect.objectContaining({ name: "AgentFailedError", exitCode: 3 }),
      }),
    ]);
  });

  it("SIGTERM stops all runs, keeps their commits, starts no more, and exits with 143", async () => {
    const meeting = temporaryDirectory();
    const cwd = repositoryOf(`${AGENT}\ntouch ${meeting}/$task; sleep 600`);
    const tasks = ["one", "two", "three"].map((prompt) => ({ prompt, branch: prompt, name: prompt }));
    const { child, result } = startCli(
      [
        ...RUN,
        "--json",
        "--concurrency",
        "2",
        "--mount",
        `${meeting}:${meeting}`,
        "--tasks",
        taskFile(linesOf(...tasks)),
      ],
      { cwd },
    );
    await until("two agents hang", () => readdirSync(meeting).length === 2 || child.exitCode !== null);
    child.kill("SIGTERM");
    const { exitCode, stdout, stderr } = await result;
    expect(exitCode).toBe(143);
    expect(stderr).toContain("SIGTERM: stopping the agents");
    const outcomes = parsed(stdout).sort((a, b) => a.index - b.index);
    expect(outcomes.map(({ state }) => state)).toEqual(["aborted", "aborted", "not started"]);
    expect(outcomes[0]).toMatchObject({ branch: "one", error: { name: "TaskAbortedError" } });
    expect(outcomes[0].commits).toEqual([{ sha: git(cwd, "rev-parse", "one") }]);
    expect(subjectsOf(cwd, "two")[0]).toBe("Do two");
    expect(git(cwd, "branch", "--list", "three")).toBe("");
    expect(readdirSync(join(cwd, ".git/sanddune/locks"))).toEqual([]);
  });
});

const TASK = { prompt: "one", branch: "b" };
const BASE = ["run", "--agent-command", "true", "--sandbox", "bubblewrap"];

describe("a task file that is wrong", () => {
  it.each([
    [
      "has a key that there is not",
      [TASK, { promt: "x" }],
      [],
      [':2: there is no key "promt". Did you mean "prompt"?'],
    ],
    [
      "has a value of another type",
      [{ ...TASK, maxIterations: "3" }],
      [],
      [":1: maxIterations: must be a number"],
    ],
    [
      "has a number that cannot be",
      [{ ...TASK, idleTimeoutSeconds: -1 }],
      [],
      [":1: idleTimeoutSeconds: must be a number of seconds"],
    ],
    ["has an empty text", [{ ...TASK, prompt: "" }], [], [":1: prompt: must not be empty"]],
    ["has a blank prompt", [{ ...TASK, prompt: " " }], [], ["prompt: must be a non-empty string"]],
    ["has a task without a prompt", [{ branch: "b" }], [], [":1: there is no prompt"]],
    [
      "has two prompts in a task",
      [{ ...TASK, promptFile: "x" }],
      [],
      [":1: prompt and promptFile exclude each other"],
    ],
    ["has arguments for no template", [{ ...TASK, promptArgs: {} }], [], [":1: promptArgs sets"]],
    [
      "has a model for a command",
      [{ ...TASK, model: "x" }],
      [],
      [":1: --model: the agent command has no model"],
    ],
    ["names an agent without its model", [{ ...TASK, agent: "codex" }], [], [":1: --model is missing"]],
    ["has a branch that cannot be", [{ ...TASK, branch: "a..b" }], [], [':1: "a..b" cannot be used']],
    ["has two tasks on one branch", [TASK, TASK], [], [":2: it works on the branch b, as does line 1"]],
    [
      "has two tasks in one checkout",
      [{ prompt: "a" }, { prompt: "b" }],
      [],
      [":2: it works in the checkout", "merge-to-head"],
    ],
    [
      "has two tasks of one name",
      [
        { ...TASK, name: "x" },
        { ...TASK, branch: "c", name: "x" },
      ],
      [],
      [':2: it has the same name as line 1, "x"'],
    ],
    ["has a repository that is none", [{ ...TASK, cwd: "/" }], [], [":1: / is not inside a git repository"]],
    ["comes with a branch for all", [TASK], ["--branch", "b"], ["--branch applies to one run"]],
    ["comes with a name for all", [TASK], ["--name", "b"], ["--name applies to one run"]],
    ["comes with a prompt from nowhere", [TASK], ["--prompt", "-"], ["--prompt - applies to one run"]],
    ["comes with no room", [TASK], ["--concurrency", "0"], ["--concurrency", "1 or more"]],
    ["comes with retries that are no number", [TASK], ["--retries", "many"], ["--retries", "0 or more"]],
  ])("because it %s: is refused with the place, and nothing is started", async (_, tasks, flags, says) => {
    const cwd = temporaryRepository();
    const path = taskFile(linesOf(...tasks));
    const { exitCode, stdout, stderr } = await runCli([...BASE, ...flags, "--tasks", path], { cwd });
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    for (const text of says) expect(stderr).toContain(text.startsWith(":") ? path + text : text);
    expectUntouched(cwd);
  });

  it("is refused with all its problems, each with its line", async () => {
    const cwd = temporaryRepository();
    const text =
      '{"prompt": "a", "branch": "a"}\n\n{"prompt": "b",}\n[]\n{"prompt": "c" "branch": "d"}\nfix it\n';
    const path = taskFile(text);
    const { exitCode, stderr } = await runCli([...BASE, "--tasks", path], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr.match(/:\d+: /g)).toEqual([":3: ", ":4: ", ":5: ", ":6: "]);
    expect(stderr).toContain(`${path}:3: JSON has no comma before }`);
    expectUntouched(cwd);
  });

  it("is refused with the problems of its first lines only", async () => {
    const cwd = temporaryRepository();
    const path = taskFile(linesOf(...Array.from({ length: 200 }, () => ({ promt: "x" }))));
    const { stderr } = await runCli([...BASE, "--tasks", path], { cwd });
    expect(stderr.match(/there is no key/g)).toHaveLength(10);
    expect(stderr).toContain("… and 190 more");
  });

  it("is empty, or is not there", async () => {
    const cwd = temporaryRepository();
    const path = taskFile("\n \n");
    const empty = await runCli([...BASE, "--tasks", path], { cwd });
    expect(empty).toMatchObject({ exitCode: 2, stderr: `error: --tasks: there is no task in ${path}\n` });
    const gone = await runCli([...BASE, "--tasks", "gone.jsonl"], { cwd });
    expect(gone).toMatchObject({
      exitCode: 2,
      stderr: "error: --tasks: gone.jsonl cannot be read (ENOENT)\n",
    });
    expectUntouched(cwd);
  });

  it.each(["--concurrency", "--retries"])("is missing: %s alone is refused", async (flag) => {
    const cwd = temporaryRepository();
    const { exitCode, stderr } = await runCli([...BASE, "--prompt", "x", flag, "1"], { cwd });
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--tasks FILE"),
    });
    expectUntouched(cwd);
  });
});

describeWith(["bubblewrap", "tmux"], "sanddune run --tasks at a terminal", () => {
  const startTasks = (cwd: string, ...flags: string[]) => {
    const words = [process.execPath, builtCli(), ...RUN, ...flags];
    return startTerminal(words.map(shellQuote).join(" "), { cwd, columns: 100 });
  };

  it("shows a line for each run, the counts, and in the end the table", async () => {
    const meeting = temporaryDirectory();
    const wait = `until [ -e ${meeting}/$task ]; do sleep 0.05; done`;
    const cwd = repositoryOf(`${AGENT}\n${wait}`);
    const tasks = ["one", "two", "three"].map((prompt) => ({
      prompt,
      branch: prompt,
      name: `the ${prompt}`,
    }));
    const path = taskFile(linesOf(...tasks));
    const terminal = startTasks(
      cwd,
      "--concurrency",
      "2",
      "--mount",
      `${meeting}:${meeting}`,
      "--tasks",
      path,
    );
    await terminal.shows(/0 of 3 · 0 succeeded · 2 running\n.*the one · .* s\n.*the two · .* s$/);
    expect(terminal.screen()).not.toContain("the three");
    writeFileSync(join(meeting, "one"), "");
    await terminal.shows(/✓ the one {2}succeeded {2}one {2}1 commit/);
    await terminal.shows(/1 of 3 · 1 succeeded · 2 running\n.*the two · .*\n.*the three · /);
    for (const name of ["two", "three"]) writeFileSync(join(meeting, name), "");
    expect(await terminal.ended()).toBe(0);
    const shown = terminal.history();
    expect(shown.match(/^TASK +STATE/gm)).toHaveLength(1);
    expect(shown).toMatch(/^the three +succeeded +three +1 /m);
    expect(shown).toMatch(/^3 succeeded$/m);
    // Nothing of the lines that change is left.
    expect(shown).not.toContain("running");
  });

  it("lets the runs show themselves with --logging stdout, each line with its name", async () => {
    const cwd = repositoryOf(`${AGENT}\necho "I did $task"`);
    const tasks = [
      { prompt: "one", branch: "one", name: "first" },
      { prompt: "two", branch: "two", name: "second" },
    ];
    const terminal = startTasks(cwd, "--logging", "stdout", "--tasks", taskFile(linesOf(...tasks)));
    expect(await terminal.ended()).toBe(0);
    expect(terminal.history()).toMatch(/^\[first\] I did one$/m);
    expect(terminal.history()).toMatch(/^\[second\] I did two$/m);
    expect(terminal.history()).toMatch(/^second +succeeded +two +1 /m);
  });

  it("is stopped by Ctrl-C, and says what became of each", async () => {
    const meeting = temporaryDirectory();
    const cwd = repositoryOf(`${AGENT}\ntouch ${meeting}/$task; sleep 600`);
    const tasks = [
      { prompt: "one", branch: "one" },
      { prompt: "two", branch: "two" },
    ];
    const flags = ["--concurrency", "1", "--mount", `${meeting}:${meeting}`];
    const terminal = startTasks(cwd, ...flags, "--tasks", taskFile(linesOf(...tasks)));
    await until("the agent hangs", () => existsSync(join(meeting, "one")));
    terminal.press("C-c");
    expect(await terminal.ended()).toBe(130);
    expect(terminal.history()).toMatch(/^task 1 +aborted +one +1 /m);
    expect(terminal.history()).toMatch(/^task 2 +not started +- +0 +- +-$/m);
    expect(terminal.history()).toMatch(/^0 succeeded, 1 aborted, 1 not started$/m);
    expect(subjectsOf(cwd, "one")[0]).toBe("Do one");
  });
});

describeWith(["docker"], "sanddune run --tasks --retries", () => {
  it("tries a task again whose container was killed, and says so", async () => {
    const cwd = repositoryOf(`${AGENT}\n[ -e seen ] || { touch seen; sleep 600; }`);
    const flags = ["--sandbox", "docker", "--image-name", TEST_IMAGE, "--agent-command", "sh ./agent.sh"];
    const path = taskFile(linesOf({ prompt: "one", branch: "one" }));
    const { child, result } = startCli(["run", ...flags, "--json", "--retries", "1", "--tasks", path], {
      cwd,
    });
    const worktrees = join(cwd, ".sanddune/worktrees");
    mkdirSync(worktrees, { recursive: true });
    await until(
      "the agent hangs",
      () =>
        child.exitCode !== null ||
        readdirSync(worktrees).some((name) => existsSync(join(worktrees, name, "seen"))),
    );
    const runs = join(cwd, ".sanddune/runs");
    const [id = ""] = readdirSync(runs).filter((name) => name !== ".gitignore");
    const journal = readFileSync(join(runs, id, "journal.jsonl"), "utf8");
    execFileSync("docker", ["kill", /"what":"sandbox","name":"([^"]+)"/.exec(journal)?.[1] ?? ""]);
    const { exitCode, stdout, stderr } = await result;
    expect(stderr).toMatch(/↻ task 1 {2}attempt 2: The docker sandbox was lost/);
    expect(exitCode).toBe(0);
    const [outcome] = parsed(stdout);
    expect(outcome).toMatchObject({
      state: "succeeded",
      attempts: 2,
      branch: "one",
      lost: [{ name: "SandboxLostError" }],
    });
    expect(outcome.commits).toHaveLength(Number(git(cwd, "rev-list", "--count", "main..one")));
  });
});
