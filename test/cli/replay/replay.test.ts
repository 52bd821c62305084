import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { greetingEnvironment } from "../../helpers/environments.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { BRANCH, directoryOf, record } from "../../trajectory/recording.ts";
import { runCli } from "../callCli.ts";

const replay = (cwd: string, ...args: string[]) => runCli(["replay", ...args], { cwd });

describe("sanddune replay", () => {
  it("prints the steps of a run as a table, found by id or by its end", async () => {
    const cwd = temporaryRepository();
    const { runId } = await record(cwd, ["echo a > a.txt", "ls", "printf 'a\\nb\\n' > a.txt; exit 7"], {
      name: "nightly",
    });
    for (const wanted of [runId, runId.slice(-6), "nightly"]) {
      const { exitCode, stdout, stderr } = await replay(cwd, wanted);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      const lines = stdout.trimEnd().split("\n");
      expect(lines[0]).toBe(`Run ${runId}: scripted, succeeded, 3 actions in 1 iteration, 2 checkpoints`);
      expect(lines[1]).toMatch(/^Took: \d/);
      expect(lines[2]).toMatch(/^Prompt: /);
      expect(lines.slice(3).map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
        ["STEP", "TOOL", "FILES"],
        ["0", "before the first action"],
        ["1", "shell", "1 file, +1 -0"],
        ["2", "shell", expect.stringMatching(/ s$/)],
        ["3", "shell", "1 file, +1 -0"],
      ]);
    }
    const json = JSON.parse((await replay(cwd, runId, "--json")).stdout);
    expect(json).toMatchObject({
      runId,
      agent: "scripted",
      state: "succeeded",
      steps: [
        { number: 0, change: "none" },
        { number: 1, change: "changed", checkpoint: 1, files: [{ path: "a.txt" }] },
        { number: 2, change: "none", checkpoint: 1 },
        { number: 3, change: "changed" },
      ],
    });
  });

  it("shows one step in full, checks it out, and writes a page", async () => {
    const cwd = temporaryRepository();
    const { runId } = await record(cwd, ["echo hello | tee a.txt"]);
    const step = await replay(cwd, runId, "--step", "1");
    expect(step.stdout).toMatch(/^Step 1 of 1: shell\n/);
    expect(step.stdout).toContain("[result] hello");
    expect(step.stdout).toContain("+++ b/a.txt");
    expect(JSON.parse((await replay(cwd, runId, "--step", "1", "--json")).stdout)).toMatchObject({
      number: 1,
      patch: expect.stringContaining("+hello"),
      events: [{ type: "toolCall" }, { type: "toolResult" }, { type: "turnStart" }],
    });

    const place = join(directoryOf(cwd, { runId }), "checkouts/1");
    expect(await replay(cwd, runId, "--checkout", "1")).toMatchObject({ exitCode: 0, stdout: `${place}\n` });
    expect(readFileSync(join(place, "a.txt"), "utf8")).toBe("hello\n");
    const again = await replay(cwd, runId, "--checkout", "1", "--to", place);
    expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("it exists already") });
    expect(git(cwd, "status", "--porcelain")).toBe("");

    const page = join(temporaryDirectory(), "pages/replay.html");
    expect(await replay(cwd, runId, "--html", page)).toMatchObject({ exitCode: 0 });
    expect(await replay(cwd, runId, "--html", page)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(page, "utf8")).toContain(runId);
    writeFileSync(page, "something else");
    expect(await replay(cwd, runId, "--html", page)).toMatchObject({ exitCode: 1 });
    expect(readFileSync(page, "utf8")).toBe("something else");
  });

  it("says what is wrong with a command line, and of a run that was not recorded how to record one", async () => {
    const cwd = temporaryRepository();
    const { runId } = await record(cwd, ["echo a > a.txt"]);
    const plain = await run({ agent: scripted([]), cwd, sandbox: testIsolated(), prompt: "x" });
    for (const [args, exitCode, problem] of [
      [["nobody"], 1, "There is no run"],
      [[runId, "--step", "9"], 1, "its steps are 0 to 1"],
      [[runId, "--evaluate", "nowhere", "--step", "9"], 1, "its steps are 0 to 1"],
      [[runId, "--to", "x"], 2, "--checkout"],
      [[runId, "--html", ""], 2, "--html needs a path"],
      [[runId, "--sandbox", "docker"], 2, "--evaluate"],
      [[runId, "--step", "-1"], 2, "whole number"],
      [[plain.runId], 1, "To record one: npx @missingstudio/sanddune run --trajectory"],
    ] as const) {
      const answer = await replay(cwd, ...args);
      expect(answer).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(problem) });
    }
  });
});

describe("sanddune clean", () => {
  it("removes checkpoints with the record of their run, and not before", async () => {
    const cwd = temporaryRepository();
    const { runId } = await record(cwd, ["echo a > a.txt; git add a.txt; git commit --quiet --message A"]);
    const refs = () => git(cwd, "for-each-ref", "--format=%(refname)", "refs/sanddune");
    await runCli(["clean", "--yes"], { cwd });
    expect(refs()).toBe(`refs/sanddune/${runId}/checkpoints/1`);
    const { stdout } = await runCli(["clean", "--yes", "--records"], { cwd });
    expect(stdout).toContain("journal, run log and 1 checkpoint");
    expect(refs()).toBe("");
    expect(existsSync(directoryOf(cwd, { runId }))).toBe(false);
  });
});

describeWith(["bubblewrap"], "sanddune run and replay", () => {
  it("record a run, with artifacts, by flags", async () => {
    const cwd = temporaryRepository();
    const { exitCode, stdout } = await runCli(
      [
        ...["run", "--agent-command", "echo x > out.log; echo y > kept.txt", "--sandbox", "bubblewrap"],
        ...["--branch", "agent/x", "--prompt", "x", "--trajectory", "--artifact", "*.log", "--json"],
      ],
      { cwd },
    );
    expect(exitCode).toBe(0);
    const result = JSON.parse(stdout);
    expect(result.artifacts).toMatchObject([{ path: "out.log", bytes: 2 }]);
    expect(readdirSync(directoryOf(cwd, result)).sort()).toEqual([
      "artifacts",
      "journal.jsonl",
      "trajectory.jsonl",
    ]);
    const flags = ["--agent-command", "true", "--sandbox", "bubblewrap", "--prompt", "x"];
    const refused = await runCli(["run", "--artifact", "x", ...flags], { cwd });
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--trajectory") });
  });

  it("evaluate every commit with an environment, and draw what the run itself found out beside it", async () => {
    const cwd = temporaryRepository();
    const environment = greetingEnvironment();
    const { runId } = await run({
      agent: scripted([{ commit: "Say goodbye", files: { "hello.txt": "goodbye\n" } }]),
      ...{ cwd, sandbox: bubblewrap(), prompt: "x", branchStrategy: BRANCH },
      ...{ environment, until: "tests-pass", trajectory: true },
    });
    const page = join(temporaryDirectory(), "replay.html");
    const { exitCode, stdout } = await replay(
      cwd,
      ...[runId, "--evaluate", environment, "--sandbox", "bubblewrap", "--html", page, "--json"],
    );
    expect(exitCode).toBe(0);
    const found = JSON.parse(stdout).steps.map(
      (step: {
        tests?: { passed: number };
        evaluations: Record<string, { passed: number; total: number }>;
      }) => [step.tests?.passed, step.evaluations[environment]?.passed, step.evaluations[environment]?.total],
    );
    expect(found).toEqual([
      [undefined, 0, 2],
      [1, 1, 2],
    ]);
    expect(readFileSync(page, "utf8")).toContain("After step 1: 1 of 2 tests pass");
  });
});
