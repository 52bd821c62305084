import { expect, it } from "vitest";
import { RunnerReport } from "../../../src/environment/suites/runners/runnerReport.ts";
import { outline } from "./recording.ts";

const FILE = "/e/a.test.js";

const reportOf = (
  events: readonly (readonly unknown[])[],
  before: readonly string[][] = [],
  mustAllRun = false,
) => {
  const report = new RunnerReport({
    mustAllRun,
    before: new Map([[FILE, before]]),
    fileNames: (file) => ({ before: [], own: [file.slice(3)] }),
  });
  for (const event of events) report.read(JSON.stringify(event));
  return report.finish();
};

const passed = (...names: string[]) => ["test", FILE, names, "passed", 1, ""];
const [ENDED, END] = [["ended", FILE], ["end"]];

it("a file that came to its end has the tests that the runner knows", () => {
  const report = reportOf(
    [["files", [FILE]], passed("a"), ["test", FILE, ["b"], "skipped", 0, ""], ENDED, END],
    [["never meant"]],
  );
  expect([outline(report), report.skipped, report.problem]).toEqual([["a"], 1, undefined]);
});

it("a file that did not has those that are known from before as well, and what did not report has failed", () => {
  const known = ["known", FILE, [["a"], ["g"], ["later"]]];
  const report = reportOf([["files", [FILE]], known, passed("a"), END], [["a"], ["g", "b"], ["g", "c"]]);
  expect(outline(report)).toEqual(["a", "✗ later", "✗ g/b", "✗ g/c"]);
});

it("a file of which nothing was heard has failed itself", () => {
  expect(outline(reportOf([["files", [FILE]], passed("a"), END]))).toEqual(["a", "✗ a.test.js"]);
  expect(outline(reportOf([]))).toEqual(["✗ a.test.js"]);
});

it("what was skipped or not run has failed where nothing may be left out", () => {
  const skipped = ["test", FILE, ["a"], "skipped", 0, ""];
  expect(outline(reportOf([["files", [FILE]], skipped, ENDED, END], [["a"]], true))).toEqual(["✗ a"]);
  const elsewhere = ["test", "/e/b.test.js", ["b"], "passed", 1, ""];
  const others = [["files", ["/e/b.test.js"]], elsewhere, ["ended", "/e/b.test.js"], END];
  expect(outline(reportOf(others, [["a"]], true))).toEqual(["b", "✗ a"]);
  expect(outline(reportOf(others, [["a"]]))).toEqual(["b"]);
});

it("a file that failed as a whole is told of by its tests, with the reason", () => {
  const failed = ["test", FILE, [], "failed", 1, "cannot be loaded"];
  const { tests } = reportOf([["files", [FILE]], failed, ENDED, END], [["a"], ["b"]]);
  expect(tests).toMatchObject([
    { path: "a", passed: false, message: "cannot be loaded" },
    { path: "b", passed: false, message: "cannot be loaded" },
  ]);
});

it("one failure is enough, whatever else is said of a test", () => {
  const failed = ["test", FILE, ["a"], "failed", 1, "no"];
  const { tests } = reportOf([["files", [FILE]], failed, passed("a"), ENDED, END]);
  expect(tests.every(({ passed }) => passed)).toBe(false);
});

it("says so if the runner did not finish, or if a line is invalid", () => {
  expect(reportOf([passed("a"), ENDED]).problem).toContain("ends before the runner");
  for (const event of [["nothing"], ["test", 5], ["known", FILE, [5]], ["files", "x"]])
    expect(reportOf([event, END]).problem).toContain("invalid line");
});

it("is bounded", () => {
  const many = Array.from({ length: 25_000 }, (_, at) => passed(`t${at}`));
  expect(reportOf([...many, ENDED, END]).problem).toBeDefined();
  const names = Array.from({ length: 500_000 }, () => []);
  expect(reportOf([["known", FILE, names], ENDED, END]).problem).toContain("invalid line");
});
