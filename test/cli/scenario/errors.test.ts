import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { runCli } from "../callCli.ts";
import { FAILING, makeSuite, pageOf, runScenarios, sh, spec } from "./scenarioSuites.ts";

useOwnTemporaryDirectory();

const REPORTS = ["junit.xml", "report.md", "report.html"];
const REPORT_FLAGS = REPORTS.flatMap((file) => ["--report", file]);

/** The reports of a run: what each of them says. */
const reportsIn = (cwd: string): [junit: string, markdown: string, html: string] => {
  const [junit = "", markdown = "", html = ""] = REPORTS.map((file) => readFileSync(join(cwd, file), "utf8"));
  return [junit, markdown, html];
};

const expectError = (cwd: string, counts: string, words: string): void => {
  const [junit, markdown, html] = reportsIn(cwd);
  expect(junit).toContain(counts);
  for (const report of [junit, markdown.replaceAll("\\", ""), html]) {
    expect(report).toContain(words);
    expect(report).not.toContain(cwd);
  }
};

test("A bad page and a missing fixture are errors in every report, beside the verdicts on the others", async () => {
  const cwd = makeSuite({
    pages: { bad: pageOf({ runnable: "cli" }), good: spec(), lost: spec({ fixture: "fixtures/none" }) },
  });
  expect(await runScenarios(cwd, REPORT_FLAGS)).toMatchObject({ exitCode: 2 });
  expectError(cwd, 'tests="4" failures="0" errors="3"', "scenarios/bad.md:2");
  expectError(cwd, 'tests="1" failures="0" errors="0"', "fixtures/none");
});

test("An error before the first scenario is in the reports, which replace those of an earlier suite run", async () => {
  const cwd = makeSuite({ pages: { good: spec() } });
  expect(await runScenarios(cwd, REPORT_FLAGS)).toMatchObject({ exitCode: 0 });
  expect(await runScenarios(cwd, [...REPORT_FLAGS, "--only=godo"])).toMatchObject({ exitCode: 2 });
  expectError(cwd, 'tests="1" failures="0" errors="1"', "there is no scenario godo");
  writeFileSync(join(cwd, ".sanddune/scenarios.json"), "{ half");
  expect(await runScenarios(cwd, REPORT_FLAGS)).toMatchObject({ exitCode: 2 });
  expectError(cwd, 'tests="1" failures="0" errors="1"', "scenarios.json:1");
});

test("A bad page and a missing fixture are errors in the reports of the records, too", async () => {
  const cwd = makeSuite({
    pages: { good: spec(), bad: pageOf({}), lost: spec({ fixture: "fixtures/none" }) },
  });
  await runScenarios(cwd);
  const outputs = REPORTS.flatMap((file) => ["--output", file]);
  expect(await runCli(["scenario", "report", ...outputs], { cwd })).toMatchObject({ exitCode: 2 });
  expectError(cwd, 'failures="0" errors="', "scenarios/bad.md:2");
  expectError(cwd, '<testcase name="good"', "fixtures/none");
});

test.each<[string, (cwd: string) => void]>([
  ["a link", (cwd) => symlinkSync(temporaryDirectory(), join(cwd, "runs"))],
  ["below a file", (cwd) => writeFileSync(join(cwd, "runs"), "")],
])("Where the directory of the records is %s, nothing is executed", async (kind, prepare) => {
  const recordsDir = kind === "below a file" ? "../runs/deep" : "../runs";
  const marker = join(temporaryDirectory(), "executed");
  const cwd = makeSuite({ pages: { a: spec({ steps: [sh(`touch ${marker}`)] }) }, settings: { recordsDir } });
  prepare(cwd);
  const { exitCode, stderr } = await runScenarios(cwd, REPORT_FLAGS);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringMatching(/^error: The run records could not be written: .*runs/),
  });
  expect(() => readFileSync(marker)).toThrow("ENOENT");
  expectError(cwd, 'tests="1" failures="0" errors="1"', "The run records could not be written");
});

test("A scenario whose own records cannot be written is not executed, and the others are", async () => {
  const marker = join(temporaryDirectory(), "executed");
  const cwd = makeSuite({ pages: { a: spec({ steps: [sh(`touch ${marker}`)] }), b: FAILING } });
  mkdirSync(join(cwd, "runs"));
  symlinkSync(temporaryDirectory(), join(cwd, "runs/a"));
  const { exitCode, stdout, stderr } = await runScenarios(cwd, REPORT_FLAGS);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^error: a: The run records could not be written: .*it is a symbolic link/m);
  expect(stdout).toMatch(/0 passing, 1 failing, 0 manual, 1 problem/);
  expect(() => readFileSync(marker)).toThrow("ENOENT");
  expectError(cwd, 'tests="2" failures="1" errors="1"', "it is a symbolic link");
});

test("A verdict whose record cannot be written any more is printed and reported all the same", async () => {
  const cwd = makeSuite({ pages: { a: FAILING } });
  const runs = join(cwd, "runs");
  // While it is executed, a file takes the place of its records.
  const replaces = sh(`rm -rf ${runs}/a && touch ${runs}/a`);
  writeFileSync(join(cwd, "scenarios/a.md"), pageOf({ ...FAILING, steps: [replaces] }));
  mkdirSync(join(runs, "a"), { recursive: true });
  const { exitCode, stdout, stderr } = await runScenarios(cwd, REPORT_FLAGS);
  expect(exitCode).toBe(2);
  expect(stdout).toMatch(/^✗ a +failing/m);
  expect(stdout).toMatch(/0 passing, 1 failing, 0 manual, 1 problem/);
  expect(stderr).toMatch(/^error: a: The run records could not be written: /m);
  expectError(cwd, 'tests="2" failures="1" errors="1"', "missing.txt");
  rmSync(join(runs, "a"));
  mkdirSync(join(runs, "a"));
  const asJson = await runScenarios(cwd, ["--json"]);
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    failing: 1,
    problems: [{ subject: "a" }],
    records: [{ test_id: "a", result: "failing" }],
  });
});
