import { describe, expect, it } from "vitest";
import type { SuiteReport } from "../../../../src/environment/suites/report.ts";
import { GoTestReader } from "../../../../src/environment/suites/reports/goTest.ts";
import { messageOf, outline, recording } from "../recording.ts";

const parse = (lines: readonly string[], stderr = ""): SuiteReport => {
  const reader = new GoTestReader();
  for (const line of lines) reader.read(line);
  return reader.finish(stderr);
};

const event = (members: object): string => JSON.stringify({ Package: "p", ...members });

const RECORDED = [
  "example.com/calc/TestAdd",
  "example.com/calc/TestTable/one",
  "✗ example.com/calc/TestTable/a/b",
  "example.com/calc/TestTable/two_words",
  "example.com/calc/TestTable/#00",
  "example.com/calc/TestParent/fine",
  "✗ example.com/calc/TestParent",
  "example.com/calc/boom/TestOk",
  "✗ example.com/calc/boom/TestBoom",
  "✗ example.com/calc/broken",
  "example.com/calc/exits/TestOk",
  "✗ example.com/calc/exits",
  "example.com/calc/exits2/TestOk",
  "✗ example.com/calc/exits2/TestExit",
];

describe.each([
  ["go1.19.jsonl", recording("go1.19.stderr")],
  ["go1.24.jsonl", ""],
])("%s", (name, stderr) => {
  const report = parse(recording(name).split("\n"), stderr);

  it("tells of subtests, of packages that cannot be built, and of those that fail by themselves", () => {
    expect(outline(report)).toEqual(RECORDED);
    expect(report).toMatchObject({ skipped: 1, problem: undefined });
  });

  it("says why", () => {
    expect(messageOf(report, "example.com/calc/TestTable/a/b")).toBe(
      "printed a/b\n    calc_test.go:5: got 4",
    );
    expect(messageOf(report, "example.com/calc/boom/TestBoom")).toMatch(
      /^panic: assignment to entry in nil map/,
    );
    expect(messageOf(report, "example.com/calc/broken")).toContain("broken/b.go:2:23: cannot use");
    expect(messageOf(report, "example.com/calc/exits")).toBe(
      "The package failed, and none of its tests did.",
    );
  });
});

it("a test that started and did not end has failed", () => {
  const report = parse([
    event({ Action: "start" }),
    event({ Action: "run", Test: "TestA" }),
    event({ Action: "output", Test: "TestA", Output: "here\n" }),
  ]);
  expect(report.tests).toEqual([
    { path: "p/TestA", passed: false, durationMs: 0, message: "here\n\nIt started, and did not end." },
  ]);
});

it("a package that did not end has failed, though its tests have not", () => {
  const report = parse([
    event({ Action: "run", Test: "TestA" }),
    event({ Action: "pass", Test: "TestA", Elapsed: 0.25 }),
  ]);
  expect(report.tests).toEqual([
    { path: "p/TestA", passed: true, durationMs: 250 },
    { path: "p", passed: false, durationMs: 0, message: "It started, and did not end." },
  ]);
});

it("packages are reported in the same order, whichever was first", () => {
  const passed = (name: string) => event({ Action: "pass", Package: name, Test: "TestA", Elapsed: 0 });
  const said = (name: string) => event({ Action: "output", Package: name, Output: "PASS\n" });
  const ended = (name: string) => event({ Action: "pass", Package: name, Elapsed: 0 });
  const lines = [passed("b"), passed("a"), said("a"), ended("a"), said("b"), ended("b")];
  expect(outline(parse(lines))).toEqual(["a/TestA", "b/TestA"]);
});

it("a program that ends well before its tests have fails the package, with the tests that are known and were not run", () => {
  const passed = event({ Action: "pass", Test: "TestA", Elapsed: 0 });
  const cut = event({ Action: "pass", Elapsed: 0 });
  expect(outline(parse([passed, cut]))).toEqual(["p/TestA", "✗ p"]);
  const reader = new GoTestReader(new Map([["p", ["TestA", "TestB"]]]));
  for (const line of [passed, cut]) reader.read(line);
  expect(outline(reader.finish(""))).toEqual(["p/TestA", "✗ p/TestB"]);
});

it("lines that are no events are passed on, and change nothing", () => {
  const reader = new GoTestReader();
  const lines = [
    "",
    "{",
    "null",
    "[1]",
    '{"Action":5}',
    '{"Action":"pass"}',
    '{"__proto__":{"Action":"pass"}}',
    "go: no such tool",
  ];
  expect(lines.map((line) => reader.read(line)).at(-1)).toBe("go: no such tool\n");
  expect(reader.finish("")).toEqual({ tests: [], skipped: 0, problem: undefined });
});

it("tests and names without end are bounded", () => {
  const many = Array.from({ length: 25_000 }, (_, at) =>
    event({ Action: "pass", Test: `Test${at}`, Elapsed: 0 }),
  );
  expect(parse(many).problem).toContain("split the suite");
  const slashes = event({ Action: "fail", Test: "a/".repeat(1_000_000), Elapsed: 0 });
  expect(parse([slashes, slashes, event({ Action: "fail" })]).tests).toHaveLength(1);
});
