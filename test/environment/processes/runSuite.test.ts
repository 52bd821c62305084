import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { outline } from "../suites/recording.ts";
import { suiteScene } from "./scene.ts";

const PASSED = '<testsuite name="s"><testcase classname="c" name="a"/></testsuite>';

describe("a command", () => {
  it("whose report is JUnit in a file: an old one is not taken for it, and none is left", async () => {
    const scene = suiteScene({ "out/report.xml": PASSED, "sub/here": "" });
    const failed =
      "<testsuite><testcase classname='c' name='b'><failure message='no'/></testcase></testsuite>";
    const definition = { format: "junit", report: "out/report.xml" } as const;
    const results = await scene.run({ ...definition, command: `echo "${failed}" > out/report.xml; exit 3` });
    expect(results).toEqual({
      tests: [{ path: "c/b", passed: false, durationMs: 0, message: "no" }],
      error: null,
    });
    expect(scene.has("out/report.xml")).toBe(false);
    writeFileSync(join(scene.worktree, "out/report.xml"), PASSED);
    const none = await scene.run({ ...definition, command: "echo nothing to do" });
    expect(none).toEqual({
      tests: [],
      error:
        "There are no results. It wrote no report. The command ended with exit code 0. Check that it writes its report to out/report.xml.\nIts output ends with:\n  nothing to do",
    });
  });

  it("whose report is JUnit or TAP on the standard output", async () => {
    const scene = suiteScene({});
    const junit = await scene.run({ command: `echo '${PASSED}'`, format: "junit" });
    expect(junit).toMatchObject({ tests: [{ path: "c/a", passed: true }], error: null });
    const tap = await scene.run({
      command: "printf 'ok 1 - a\\nnot ok 2 - b\\n1..2\\n'; exit 1",
      format: "tap",
    });
    expect([outline(tap), tap.error]).toEqual([["a", "✗ b"], null]);
  });

  it("whose exit code is all there is", async () => {
    const scene = suiteScene({ "sub/file": "" });
    const format = "exit-code";
    const passed = await scene.run({ command: "test -e file", cwd: "sub", format });
    expect(passed).toEqual({
      tests: [{ path: "exit-code", passed: true, durationMs: expect.any(Number) }],
      error: null,
    });
    const failed = await scene.run({ command: "echo out; echo err >&2; exit 4", format });
    const [test] = failed.tests;
    expect(test).toMatchObject({ path: "exit-code", passed: false });
    expect(test?.message).toMatch(
      /^The command ended with exit code 4\.\nIts output ends with:\n {2}(out\n {2}err|err\n {2}out)$/,
    );
    const slow = await scene.run({ command: "sleep 60", format, timeoutMs: 200 });
    expect(slow).toMatchObject({ tests: [{ passed: false }], error: null });
    expect(slow.tests[0]?.message).toContain("The command took longer than 200 ms and was killed");
  });

  it("knows where everything is, and may write its report to the scratch directory", async () => {
    const scene = suiteScene({}, { "report.xml": PASSED });
    const command =
      'test "$PWD" = "$SANDDUNE_WORKTREE" && cp "$SANDDUNE_ENVIRONMENT/report.xml" "$SANDDUNE_SCRATCH/r.xml"';
    const results = await scene.run({ command, format: "junit", report: "{scratch}/r.xml" });
    expect(results).toMatchObject({ tests: [{ path: "c/a" }], error: null });
    expect(scene.scraps()).toEqual([]);
  });
});

describe("no results pass silently", () => {
  it.each([
    [
      "all passed, but the exit code says otherwise",
      "echo 'ok 1 - a'; echo 1..1; echo hm >&2; exit 7",
      /^All reported tests passed, but something else failed\. The command ended with exit code 7\.[\s\S]*hm/,
    ],
    [
      "tests are missing",
      "echo 1..2; echo ok",
      /^The report of the suite has 1 tests instead of the planned 2\. The command ended with exit code 0/,
    ],
    ["all are skipped", "echo 'ok 1 # SKIP'; echo 1..1", /^No test of the suite has run: all 1 are skipped/],
    ["there are none", "echo 1..0", /^The suite has no tests\./],
    ["there is no such command", "no-such-command", /exit code 127[\s\S]*no-such-command/],
    [
      "the report is too long",
      "yes '# x' | head -c 17000000; echo 1..0",
      /^There are no results. It printed more than 16777216 bytes/,
    ],
  ])("%s", async (_, command, error) => {
    expect((await suiteScene({}).run({ command, format: "tap" })).error).toMatch(error);
  });

  it.each([
    [
      "of a hundred megabytes",
      "truncate -s 100M report.xml",
      /^There are no results. Its report has 104857600 bytes, more than/,
    ],
    ["that is a pipe", "mkfifo report.xml", /Its report is not a file/],
    ["that is a link", `echo '${PASSED}' > real.xml; ln -s real.xml report.xml`, /Its report is not a file/],
    ["that is a directory", "mkdir report.xml", /Its report is not a file/],
  ])("a report %s is not read", async (_, command, error) => {
    const results = await suiteScene({}).run({ command, format: "junit", report: "report.xml" });
    expect(results.tests).toEqual([]);
    expect(results.error).toMatch(error);
  });
});

describe("a path outside the worktree", () => {
  it("by the directory to run in", async () => {
    const scene = suiteScene({});
    symlinkSync(temporaryDirectory(), join(scene.worktree, "sub"));
    const results = await scene.run({ command: "touch x", format: "exit-code", cwd: "sub" });
    expect(results.error).toBe('The directory of the suite, "sub", is outside the worktree.');
    const missing = await scene.run({ command: "touch x", format: "exit-code", cwd: "nowhere" });
    expect(missing.error).toContain('The directory of the suite, "nowhere", does not exist in the worktree');
  });

  it("by the directory of the report: nothing is removed there, and nothing read", async () => {
    const scene = suiteScene({});
    const elsewhere = temporaryDirectory();
    writeFileSync(join(elsewhere, "report.xml"), PASSED);
    symlinkSync(elsewhere, join(scene.worktree, "out"));
    const results = await scene.run({ command: "true", format: "junit", report: "out/report.xml" });
    expect(results.error).toContain("is a link to a directory outside");
    expect(readFileSync(join(elsewhere, "report.xml"), "utf8")).toBe(PASSED);
  });

  it("by an old report that cannot be removed", async () => {
    const scene = suiteScene({});
    mkdirSync(join(scene.worktree, "report.xml"));
    const results = await scene.run({ command: "true", format: "junit", report: "report.xml" });
    expect(results.error).toMatch(/^An old report cannot be removed/);
  });
});

/** Starts a process in the group of the suite, and a daemon that has left it. */
const LEAVES_PROCESSES = "sleep 600 & echo $! > one; setsid sleep 600 & echo $! > two; touch started";
const pids = (worktree: string): number[] =>
  ["one", "two"].map((name) => Number(readFileSync(join(worktree, name), "utf8")));

describe("whatever a suite has started is killed", () => {
  it("when it has ended", async () => {
    const scene = suiteScene({});
    const { error } = await scene.run({
      command: `(${LEAVES_PROCESSES}) > /dev/null 2>&1`,
      format: "exit-code",
    });
    expect(error).toBeNull();
    await waitFor(() => !pids(scene.worktree).some(processIsAlive));
  });

  it("when it takes too long, and its output is reported", async () => {
    const scene = suiteScene({});
    const command = `echo begun; ${LEAVES_PROCESSES}; wait`;
    const { tests, error } = await scene.run({ command, format: "tap", timeoutMs: 1500 });
    expect(tests).toEqual([]);
    expect(error).toMatch(
      /^The command took longer than 1500 ms and was killed, with all processes[\s\S]*\n {2}begun$/,
    );
    expect(pids(scene.worktree).some(processIsAlive)).toBe(false);
    expect(scene.scraps()).toEqual([]);
  });

  it("when nobody wants its results any more", async () => {
    const scene = suiteScene({});
    const controller = new AbortController();
    const reason = new Error("enough");
    const running = scene.run(
      { command: `${LEAVES_PROCESSES}; wait`, format: "tap" },
      { signal: controller.signal },
    );
    const outcome = expect(running).rejects.toBe(reason);
    await waitFor(() => scene.has("started"));
    controller.abort(reason);
    await outcome;
    expect(pids(scene.worktree).some(processIsAlive)).toBe(false);
    expect(scene.scraps()).toEqual([]);
  });
});

it("suites run at the same time without knowing of each other", async () => {
  const scene = suiteScene({ "a.test.mjs": 'import { test } from "node:test"; test("a", () => {});' });
  const all = await Promise.all([1, 2, 3].map(() => scene.run({ runner: "node", args: ["a.test.mjs"] })));
  for (const results of all)
    expect(results).toMatchObject({ tests: [{ path: "a", passed: true }], error: null });
});
