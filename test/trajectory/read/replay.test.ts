import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import type { TestResults } from "../../../src/environment/contract.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { changesOf } from "../../../src/git/snapshots/checkpointDiff.ts";
import { evaluateSteps, stepsToEvaluate } from "../../../src/trajectory/read/evaluate.ts";
import type { RecordedRun } from "../../../src/trajectory/read/readTrajectory.ts";
import { checkOutStep, openReplay, patchOfStep, type Replay } from "../../../src/trajectory/read/replay.ts";
import { seriesOf } from "../../../src/trajectory/read/series.ts";
import { stepsOf } from "../../../src/trajectory/read/steps.ts";
import { chartOf } from "../../../src/trajectory/show/chart.ts";
import { trajectoryPage } from "../../../src/trajectory/show/html.ts";
import { lastWords } from "../../../src/trajectory/show/htmlStep.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { directoryOf, useRecording } from "../recording.ts";

const recording = useRecording([
  "echo a > a.txt",
  "ls",
  "rm README.md; printf 'b\\nb\\n' > b.txt; echo '<script>alert(1)</script>'",
  "mkdir -p d/e; echo deep > d/e/f.txt; printf '#!/bin/sh\\n' > run.sh; chmod +x run.sh; ln -s /etc/passwd link; echo '* filter=evil text eol=lf' > .gitattributes",
]);

const replayOf = async (cwd: string, { runId }: { readonly runId: string }): Promise<Replay> =>
  openReplay(await runAtBoundary(openRepository(cwd)), { runId, runDirectory: directoryOf(cwd, { runId }) });

/** A test for each file: it passes if the file is there. */
const lookingFor =
  (cwd: string, ...files: string[]) =>
  async (commit: string): Promise<TestResults> => {
    const there = git(cwd, "ls-tree", "-r", "--name-only", commit).split("\n");
    const tests = files.map((path) => ({
      path,
      passed: there.includes(path),
      durationMs: 1,
      ...(!there.includes(path) && { message: `<img src=x> ${path} is missing` }),
    }));
    const passed = tests.filter((test) => test.passed).length;
    return { path: "", passed, failed: tests.length - passed, total: tests.length, tests, error: null };
  };

describe("the replay of a recorded run", () => {
  it("shows each step with its files, and what it changed", async () => {
    const { cwd, result } = recording();
    const replay = await replayOf(cwd, result);
    expect(replay.run).toMatchObject({ agent: "scripted", state: "succeeded", iterations: [{ number: 1 }] });
    expect(
      replay.steps
        .slice(0, 4)
        .map(({ number, change, checkpoint, files }) => ({ number, change, checkpoint, files })),
    ).toEqual([
      { number: 0, change: "none", checkpoint: undefined, files: [] },
      { number: 1, change: "changed", checkpoint: 1, files: [{ path: "a.txt", added: 1, removed: 0 }] },
      { number: 2, change: "none", checkpoint: 1, files: [] },
      {
        number: 3,
        change: "changed",
        checkpoint: 3,
        files: [
          { path: "README.md", added: 0, removed: 1 },
          { path: "b.txt", added: 2, removed: 0 },
        ],
      },
    ]);
    const [, first, second] = replay.steps;
    if (first === undefined || second === undefined) throw new Error("steps are missing");
    expect(await patchOfStep(replay, first)).toContain("+++ b/a.txt\n@@ -0,0 +1 @@\n+a");
    expect(await patchOfStep(replay, second)).toBe("");
    expect(first.events).toMatchObject([{ type: "toolCall", name: "shell" }, { type: "turnStart" }]);
  });

  it("evaluates every commit once, keeps the results, and draws them", async () => {
    const { cwd, result } = recording();
    const evaluated: string[] = [];
    const evaluateCommit = lookingFor(cwd, "a.txt", "b.txt", "c.txt");
    await evaluateSteps(await replayOf(cwd, result), {
      environment: "/home/dev/tests",
      evaluateCommit: (commit) => {
        evaluated.push(commit);
        return evaluateCommit(commit);
      },
    });
    expect(evaluated).toHaveLength(4);
    expect(new Set(evaluated).size).toBe(4);
    appendFileSync(join(directoryOf(cwd, result), "evaluations.jsonl"), '{"torn');
    const replay = await replayOf(cwd, result);
    expect(seriesOf(replay.steps)).toEqual([
      {
        name: "evaluated with tests",
        points: [
          { number: 0, passed: 0, total: 3 },
          { number: 1, passed: 1, total: 3 },
          { number: 3, passed: 2, total: 3 },
          { number: 4, passed: 2, total: 3 },
        ],
      },
    ]);
    const page = await trajectoryPage(replay);
    expect(page).toContain("After step 3: 2 of 3 tests pass");
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(page).toContain("&lt;img src=x&gt; c.txt is missing");
    expect(page).not.toMatch(/<script|<img|<link|@import|url\(|https?:/);
    expect(page).toContain("default-src 'none'");
  });

  it("believes nothing that no run has written", async () => {
    const { cwd, result } = recording();
    const head = git(cwd, "rev-parse", "HEAD");
    const at = new Date().toISOString();
    const path = join(directoryOf(cwd, result), "trajectory.jsonl");
    for (const line of [
      "not JSON",
      JSON.stringify({ at, type: "checkpoint", number: 7, from: 5, iteration: 1, sha: "--output=/etc/x" }),
      JSON.stringify({ at, type: "checkpoint", number: 8, from: 5, iteration: 1, sha: head }),
      JSON.stringify({ at, type: "action", number: 9, iteration: 1, tool: "x", input: "out of order" }),
      JSON.stringify({
        at,
        type: "tests",
        iteration: 1,
        action: 1,
        commit: head,
        results: { passed: "all" },
      }),
      JSON.stringify({ at, type: "event", event: { type: "text", text: 7 } }),
      '{"at":',
    ]) {
      appendFileSync(path, `${line}\n`);
    }
    const { steps } = await replayOf(cwd, result);
    expect(steps.map(({ number }) => number)).toEqual([0, 1, 2, 3, 4]);
    expect(steps[1]).toMatchObject({ change: "changed", isHere: true });
    expect(steps[1]?.tests).toBeUndefined();
  });

  it("has file names as they are, and large files without their lines", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "large.txt"), "line\n".repeat(2_000_000));
    writeFileSync(join(cwd, 'a\t"b"\nc'), "x\n");
    git(cwd, "add", "--all");
    git(cwd, "commit", "--quiet", "--message", "Odd files");
    const commit = git(cwd, "rev-parse", "HEAD");
    const changes = await changesOf(cwd, [commit]);
    expect(changes.get(commit)).toEqual([
      { path: 'a\t"b"\nc', added: 1, removed: 0 },
      { path: "large.txt", added: undefined, removed: undefined },
    ]);
  });

  it("shows in one piece what an agent says in many", async () => {
    const { cwd, result } = recording();
    const at = new Date().toISOString();
    for (const text of ["I wi", "ll fix", " it."]) {
      const event = { type: "text", text, iteration: 1, timestamp: at };
      appendFileSync(
        join(directoryOf(cwd, result), "trajectory.jsonl"),
        `${JSON.stringify({ at, type: "event", event })}\n`,
      );
    }
    const replay = await replayOf(cwd, result);
    expect(replay.run.iterations.at(-1)?.lastEvents).toMatchObject([
      { type: "text", text: "I will fix it." },
    ]);
    expect(await trajectoryPage(replay)).toContain("I will fix it.");
  });

  it("takes no longer than the run has actions, and has a page of bounded length", async () => {
    const { cwd, result } = recording();
    const { run: recorded } = await replayOf(cwd, result);
    const at = new Date().toISOString();
    const results = { path: "", passed: 1, failed: 0, total: 1, tests: [], error: null };
    const numbers = Array.from({ length: 50_000 }, (_, index) => index + 1);
    const run: RecordedRun = {
      ...recorded,
      actions: numbers.map((number) => ({
        ...{ number, iteration: 1, at, tool: undefined, input: "x" },
        ...{ isError: false, isUnfinished: false, events: [] },
      })),
      unchanged: numbers.map((number) => ({ at, type: "unchanged", number, from: number })),
      tests: numbers.map((action) => ({ action, commit: recorded.base, results })),
    };
    const steps = stepsOf(run, { changes: new Map(), isBaseHere: true, evaluations: [] });
    expect(steps).toHaveLength(50_001);
    expect(steps.at(-1)).toMatchObject({ change: "none", tests: { passed: 1 } });
    const more = [steps, steps, steps].flat();
    expect(chartOf(more, seriesOf(more))?.text).toContain("Passed tests");
    const said = numbers.slice(0, 20_000).map(() => ({
      ...({ type: "toolResult", output: "x".repeat(1000), iteration: 1, timestamp: at } as const),
    }));
    expect(lastWords(said, 1000)?.text.length).toBeLessThan(500_000);
  });

  it("says what is not here any more", async () => {
    const { cwd, result } = recording();
    git(cwd, "update-ref", "-d", `refs/sanddune/${result.runId}/checkpoints/1`);
    const replay = await replayOf(cwd, result);
    expect(replay.steps[1]).toMatchObject({ change: "changed", isHere: false, files: [] });
    await expect(checkOutStep(replay, 1, join(temporaryDirectory(), "x"))).rejects.toMatchObject({
      name: "CheckpointNotFoundError",
    });
  });

  it("says that the commit is gone that the run began with", async () => {
    const { cwd, result } = recording();
    const path = join(directoryOf(cwd, result), "trajectory.jsonl");
    const gone = "1".repeat(40);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(git(cwd, "rev-parse", "HEAD"), gone));
    const replay = await replayOf(cwd, result);
    expect(replay.steps.map(({ isHere }) => isHere)).toEqual([false, true, true, true, true]);
    expect(stepsToEvaluate(replay).map(({ number }) => number)).toEqual([1, 3, 4]);
    await expect(checkOutStep(replay, 0, join(temporaryDirectory(), "x"))).rejects.toMatchObject({
      ...{ name: "CheckpointNotFoundError", sha: gone },
    });
  });
});

describe("checking a step out", () => {
  it("writes its files into a new directory, and runs nothing", async () => {
    const { cwd, result } = recording();
    const trap = join(temporaryDirectory(), "trap");
    git(cwd, "config", "filter.evil.smudge", `touch ${trap}; cat`);
    git(cwd, "config", "filter.evil.required", "true");
    mkdirSync(join(cwd, ".git/hooks"), { recursive: true });
    writeFileSync(join(cwd, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
    const worktrees = git(cwd, "worktree", "list");
    const target = join(temporaryDirectory(), "not/yet/there");
    const replay = await replayOf(cwd, result);
    expect(await checkOutStep(replay, 4, target)).toBe(target);
    expect(readdirSync(target).sort()).toEqual([".gitattributes", "a.txt", "b.txt", "d", "link", "run.sh"]);
    expect(readFileSync(join(target, "d/e/f.txt"), "utf8")).toBe("deep\n");
    expect(lstatSync(join(target, "link")).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(target, "run.sh")).mode & 0o111).not.toBe(0);
    expect(existsSync(trap)).toBe(false);
    expect(readdirSync(join(target, ".."))).toEqual(["there"]);
    expect(git(cwd, "worktree", "list")).toBe(worktrees);
  });

  it("of a step that changed nothing has the files of the one before, and of step 0 those of the base commit", async () => {
    const { cwd, result } = recording();
    const replay = await replayOf(cwd, result);
    const directory = temporaryDirectory();
    await checkOutStep(replay, 2, join(directory, "two"));
    await checkOutStep(replay, 0, join(directory, "zero"));
    expect(readdirSync(join(directory, "two"))).toEqual(["README.md", "a.txt"]);
    expect(readdirSync(join(directory, "zero"))).toEqual(["README.md"]);
  });

  it("says why a directory cannot be used, and follows no link of the repository", async () => {
    const { cwd, result } = recording();
    const replay = await replayOf(cwd, result);
    const outside = temporaryDirectory();
    symlinkSync(join(outside, "nowhere"), join(outside, "dangling"));
    for (const place of [join(cwd, "README.md/x"), join(outside, "dangling")]) {
      await expect(checkOutStep(replay, 1, place)).rejects.toMatchObject({ name: "CheckoutPlaceError" });
    }
    symlinkSync(outside, join(directoryOf(cwd, result), "checkouts"));
    await expect(checkOutStep(replay, 1)).rejects.toMatchObject({ name: "CheckoutPlaceError" });
    expect(readdirSync(outside)).toEqual(["dangling"]);
  });

  it("never touches what is there", async () => {
    const { cwd, result } = recording();
    const replay = await replayOf(cwd, result);
    const target = join(temporaryDirectory(), "mine");
    mkdirSync(target);
    writeFileSync(join(target, "README.md"), "mine\n");
    await expect(checkOutStep(replay, 1, target)).rejects.toMatchObject({ name: "CheckoutPlaceError" });
    expect(readdirSync(target)).toEqual(["README.md"]);
    expect(readFileSync(join(target, "README.md"), "utf8")).toBe("mine\n");
  });
});
