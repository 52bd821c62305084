import { describe, expect, it } from "vitest";
import { parseTap } from "../../../../src/environment/suites/reports/tap.ts";
import { messageOf, outline, recording } from "../recording.ts";

const OF_NODE = [
  "calc/adds",
  "✗ calc/sub # hash / slash",
  "parent/child ok",
  "✗ parent",
  "prints",
  "hook/fine",
  "✗ hook",
  "calc",
  "✗ bad.test.mjs",
  "empty.test.mjs",
];

describe("a report of a real runner", () => {
  it.each(["node20.tap", "node22.tap"])(
    "%s: subtests are reported, and groups that failed for a reason of their own",
    (name) => {
      const report = parseTap(recording(name));
      // Some versions name a file by its whole path.
      expect(outline(report).map((path) => path.replace("srv/node/", ""))).toEqual(OF_NODE);
      expect(report).toMatchObject({ skipped: 2, problem: undefined });
      expect(messageOf(report, "calc/sub # hash / slash")).toContain("+   a: 1\n  -   a: 2");
      expect(messageOf(report, "parent")).toContain("error: 'parent itself'");
      // Why a file could not be loaded is only printed.
      expect(
        messageOf(report, report.tests.find(({ path }) => path.endsWith("bad.test.mjs"))?.path ?? ""),
      ).toContain("Cannot find module '/srv/node/nope.mjs'");
      expect(report.tests[0]?.durationMs).toBeGreaterThan(0);
    },
  );

  it("tape's", () => {
    const report = parseTap(recording("tape.tap"));
    expect(outline(report)).toEqual(["one and one", "✗ deep # hash", "should be truthy"]);
    expect(report).toMatchObject({ skipped: 1, problem: undefined });
    expect(messageOf(report, "deep # hash")).toContain("{ a: 2 }");
  });

  it("node-tap's, which is version 14", () => {
    const report = parseTap(recording("node-tap.tap"));
    expect(outline(report)).toEqual(["✗ parent/child/one is two", "parent/child/fine", "top"]);
    expect(report).toMatchObject({ skipped: 2, problem: undefined });
    expect(messageOf(report, "parent/child/one is two")).toContain("--- expected");
  });

  it("mocha's, which says why without YAML", () => {
    const report = parseTap(recording("mocha.tap"));
    expect(outline(report)).toEqual([
      "calc adds",
      "✗ calc fails",
      "calc in deep",
      '✗ hook "before all" hook for "never"',
    ]);
    expect(messageOf(report, "calc fails")).toContain("should loosely deep-equal");
    expect(messageOf(report, '✗ hook "before all" hook for "never"'.slice(2))).not.toContain("pass 2");
  });

  it("bats', which says why in comments", () => {
    const report = parseTap(recording("bats.tap"));
    expect(outline(report)).toEqual(["adds", "✗ fails"]);
    expect(messageOf(report, "fails")).toBe(
      '(in test file a.bats, line 2)\n  `@test "fails" { echo printed; false; }\' failed\nprinted',
    );
    expect(report).toMatchObject({ skipped: 1, problem: undefined });
  });

  it("Perl's", () => {
    const report = parseTap(recording("perl.tap"));
    expect(outline(report)).toEqual(["adds", "✗ one is two", "sub/in # hash", "✗ sub/bad"]);
    expect(report).toMatchObject({ skipped: 1, problem: undefined });
  });
});

describe("variations", () => {
  it("numbers and names may be absent, lines may end as on Windows, times may be told", () => {
    const report = parseTap(
      "TAP version 12\r\nok\r\nnot ok - -1 is less\r\nok 3 a # time=12.5ms\r\nok # time=2s\r\n1..4\r\n",
    );
    expect(report).toMatchObject({
      tests: [
        { path: "(unnamed)", passed: true },
        { path: "-1 is less", passed: false },
        { path: "a", durationMs: 12.5 },
        { path: "(unnamed) (2)", durationMs: 2000 },
      ],
      problem: undefined,
    });
  });

  it("what a program prints in between is not taken for a test", () => {
    const report = parseTap("okay\nok: all\n    ok printed by a test\nok 1 - a\n  ok 2 - odd\n1..1\n");
    expect(outline(report)).toEqual(["a"]);
    expect(report.problem).toBeUndefined();
  });

  it("a subtest that failed is a failure, whatever its parent says", () => {
    expect(outline(parseTap("    not ok 1 - inner\n    1..1\nok 1 - outer\n1..1\n"))).toEqual([
      "✗ outer/inner",
    ]);
  });

  it("a whole suite can be skipped", () => {
    expect(parseTap("1..0 # SKIP no database\n")).toEqual({ tests: [], skipped: 0, problem: undefined });
  });
});

describe("what is not believed, and why", () => {
  it.each([
    ["nothing", "", "has neither tests nor a plan"],
    ["something else", "All 3 tests passed\n", "has neither tests nor a plan"],
    ["no plan", "ok 1\nok 2\n", "has no plan"],
    ["too few", "1..3\nok 1\nok 2\n", "has 2 tests instead of the planned 3"],
    ["too many", "1..1\nok 1\nok 2\n", "has 2 tests instead of the planned 1"],
    ["none", "1..2\n", "has 0 tests instead of the planned 2"],
    [
      "too few in a subtest",
      "    1..2\n    ok 1\nok 1 - a\n1..1\n",
      'has 1 tests of "a" instead of the planned 2',
    ],
    ["two plans", "1..1\nok 1\n1..1\n", "has two plans"],
    ["giving up", "1..2\nok 1\nBail out! No database.\nok 2\n", "says that the suite gave up: No database."],
    ["an end in YAML", "1..1\nnot ok 1\n  ---\n  error: x\n", "ends in the middle of a test's details"],
  ])("%s", (_, text, problem) => {
    expect(parseTap(text).problem).toContain(problem);
  });

  it("what comes after giving up", () => {
    expect(outline(parseTap("1..2\nok 1 - a\nBail out!\nok 2 - b\n"))).toEqual(["a"]);
  });

  it("a test in the YAML of another one", () => {
    const report = parseTap(
      "1..1\nnot ok 1 - a\n  ---\n  error: |-\n    ok 2 - forged\nok 3 - forged, too\n  ...\n",
    );
    expect(outline(report)).toEqual(["✗ a"]);
    expect(report.problem).toBeUndefined();
  });
});

describe("hostile sizes", () => {
  it("more tests than anybody has", () => {
    const report = parseTap("ok\n".repeat(300_000));
    expect(report.tests).toHaveLength(10_000);
    expect(report.problem).toBe("has more than 20000 tests: split the suite");
  });

  it("subtests without end", () => {
    const deep = Array.from({ length: 500 }, (_, level) => `${" ".repeat(4 * level)}ok 1\n`)
      .reverse()
      .join("");
    expect(parseTap(`${deep}1..1\n`).tests.length).toBeLessThanOrEqual(64);
  });

  it.each([
    ["one line of a megabyte", `not ok 1 - ${"x".repeat(1_000_000)}\n1..1\n`],
    ["number signs", `not ok 1 - ${" #".repeat(500_000)}\n1..1\n`],
    ["spaces", `not ok 1 - ${" ".repeat(1_000_000)}\n1..1\n`],
    ["lines about one test", `not ok 1 - a\n${"# x\n".repeat(300_000)}1..1\n`],
    ["lines of YAML", `not ok 1 - a\n  ---\n${"  x\n".repeat(300_000)}  ...\n1..1\n`],
    ["lines that only end", `not ok 1 - a\n1..1\n${"\n".repeat(1_000_000)}`],
  ])("%s are read in one go", (_, text) => {
    const report = parseTap(text);
    expect(report).toMatchObject({ tests: [{ passed: false }], problem: undefined });
    expect(report.tests[0]?.path.length).toBeLessThanOrEqual(300);
    expect(report.tests[0]?.message?.length ?? 0).toBeLessThanOrEqual(4000);
  });
});
