import { describe, expect, it } from "vitest";
import { parseJunit } from "../../../../src/environment/suites/reports/junit.ts";
import { messageOf, outline, recording } from "../recording.ts";

describe("a report of a real runner", () => {
  it("vitest's: files and tests are segments, skipped ones are left out", () => {
    const report = parseJunit(recording("vitest.xml"));
    expect(outline(report)).toEqual([
      "✗ bad.test.js",
      "calc.test.js/calc > inner > adds",
      "✗ calc.test.js/calc > inner > GET /users > 0 _ back",
      "calc.test.js/calc > inner > fails ok",
      "calc.test.js/calc > adds",
      "calc.test.js/calc > adds (2)",
      "calc.test.js/calc >",
      "calc.test.js/hook > fine",
      "✗ calc.test.js/hook",
      "late.test.js/late",
    ]);
    expect(report).toMatchObject({ skipped: 2, problem: undefined });
    expect(messageOf(report, "calc.test.js/calc > inner > GET /users > 0 _ back")).toMatch(
      /^AssertionError: expected \{ a: 1 \} to deeply equal \{ a: 2 \}\n\n- Expected/,
    );
    expect(report.tests.at(-1)).toEqual({
      path: "late.test.js/late",
      passed: true,
      durationMs: expect.any(Number),
    });
    expect(report.tests.at(-1)?.durationMs).toBeGreaterThan(20);
  });

  it("pytest's: errors of a fixture and of a module that cannot be loaded are failures, an expected failure is none", () => {
    const report = parseJunit(recording("pytest.xml"));
    expect(outline(report)).toEqual([
      "✗ tests.test_bad",
      "tests.test_calc/test_adds",
      "✗ tests.test_calc/test_fails",
      "✗ tests.test_calc/test_xpass_strict",
      "tests.test_calc/test_param[a/b]",
      "tests.test_calc/test_param[]",
      "tests.test_calc/test_param[..]",
      "tests.test_calc/test_param[_xe9_x01]",
      "✗ tests.test_calc.TestThing/test_method",
      "✗ tests.test_calc/test_teardown",
      "✗ tests.test_calc.U/test_sub",
    ]);
    expect(report).toMatchObject({ skipped: 2, problem: undefined });
    expect(messageOf(report, "tests.test_bad")).toContain("No module named 'nope'");
    expect(messageOf(report, "tests.test_calc/test_fails")).toMatch(
      /^AssertionError: assert \{'a': 1\} == \{'a': 2\}/,
    );
    expect(messageOf(report, "tests.test_calc.TestThing/test_method")).toContain("E   ValueError: ]]> red");
  });

  it("jest's: what is said twice is told once", () => {
    const report = parseJunit(recording("jest.xml"));
    expect(outline(report)).toEqual(["calc adds", "✗ calc fails"]);
    expect(report).toMatchObject({ skipped: 1, problem: undefined });
  });
});

describe("variations", () => {
  it("nested suites without class names, CDATA, entities, comments, output, other quotes, a prefix, thousands", () => {
    const report = parseJunit(`\ufeff<?xml version='1.0'?><!-- by hand -->
      <j:testsuites xmlns:j="x"><j:testsuite name="outer"><properties><property name="a" value="b"/></properties>
        <j:testsuite name='in "ner"'><j:testcase name="a &lt;&#98;&#x63;&gt;" time="1,234.5"><system-out>x</system-out></j:testcase>
          <j:testcase name="fails"><j:failure type="T"><![CDATA[<why> & ]]>so]]&gt;</j:failure><j:error message="and"/></j:testcase>
          <j:testcase name="only a type"><j:failure type="java.lang.Error"/></j:testcase></j:testsuite></j:testsuite></j:testsuites>`);
    expect(report).toEqual({
      tests: [
        { path: 'outer/in "ner"/a <bc>', passed: true, durationMs: 1_234_500 },
        { path: 'outer/in "ner"/fails', passed: false, durationMs: 0, message: "<why> & so]]>\n\nand" },
        { path: 'outer/in "ner"/only a type', passed: false, durationMs: 0, message: "java.lang.Error" },
      ],
      skipped: 0,
      problem: undefined,
    });
  });

  it("a suite that fails itself is a failed test; a test that has not run is left out", () => {
    const report = parseJunit(
      `<testsuite name="s"><error message="no database"/><testcase name="a" status="notrun"/><testcase name="b" status="run"/></testsuite>`,
    );
    expect(outline(report)).toEqual(["✗ s", "s/b"]);
    expect(report.skipped).toBe(1);
  });

  it("what fails is not skipped, whatever else is said of it", () => {
    const report = parseJunit(
      `<testsuite name="s"><testcase classname="c" name="a" status="skipped"><skipped/><failure message="no"/></testcase></testsuite>`,
    );
    expect(outline(report)).toEqual(["✗ c/a"]);
  });

  it("other things may be printed before and after it", () => {
    const report = parseJunit(
      `> npm test <now>\n<testsuite name="s"><testcase name="a"/></testsuite>\nDone in <1 s\n`,
    );
    expect(report).toMatchObject({ tests: [{ path: "s/a", passed: true }], problem: undefined });
  });
});

const LAUGHS = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;">]><testsuite name="&b;"/>`;

describe("what is not believed, and why", () => {
  it.each([
    ["nothing", "", "is empty"],
    ["something else", "All 3 tests passed", "is no JUnit report"],
    [
      "XML of another kind",
      `<?xml version="1.0"?><html></html>`,
      "is no JUnit report: it begins with <html>",
    ],
    ["a document type", LAUGHS, "declares a document type, which is not read"],
    ["an end too early", `<testsuite name="s"><testcase name="a"/>`, "ends before its last element does"],
    ["an end in a tag", `<testsuite name="s"><testcase name="a`, "ends in the middle of something"],
    ["an end in a comment", `<testsuite name="s"><!-- `, "ends in the middle of something"],
    ["crossed elements", `<testsuite><testcase></testsuite></testcase>`, "</testsuite> closes nothing"],
    [
      "an attribute without a value",
      `<testsuite name></testsuite>`,
      "has an attribute without a value: name",
    ],
    ["an attribute without quotes", `<testsuite name=a></testsuite>`, "has an attribute without quotes"],
    ["two reports", `<testsuite/><testsuite/>`, "has more than one report in it"],
  ])("%s", (_, text, problem) => {
    expect(parseJunit(text).problem).toContain(problem);
  });

  it("tests before an early end are reported", () => {
    const report = parseJunit(`<testsuite name="s"><testcase name="a"/><testcase name="b"><fai`);
    expect(outline(report)).toEqual(["s/a"]);
    expect(report.problem).toBe("ends in the middle of something");
  });

  it("entities without a declaration stay what they are", () => {
    expect(
      outline(parseJunit(`<testsuite><testcase classname="" name="&b;&#xFFFFFF;"/></testsuite>`)),
    ).toEqual(["&b;\ufffd"]);
  });
});

describe("hostile sizes", () => {
  const suite = (inside: string): string => `<testsuite name="s">${inside}</testsuite>`;

  it("elements a hundred thousand deep", () => {
    const report = parseJunit(suite("<testsuite>".repeat(100_000)));
    expect(report.problem).toBe("is nested deeper than 64 elements");
  });

  it("attributes without end", () => {
    const report = parseJunit(
      suite(`<testcase ${Array.from({ length: 5000 }, (_, at) => `a${at}="x"`).join(" ")}/>`),
    );
    expect(report.problem).toBe("has an element with too many attributes");
  });

  it("more tests than there may be: the first ones are told, and that there are more", () => {
    const report = parseJunit(suite('<testcase classname="c" name="same"/>'.repeat(10_001)));
    expect(report.tests).toHaveLength(10_000);
    expect(report.tests.at(-1)?.path).toBe("c/same (10000)");
    expect(report.problem).toBe("has more than 10000 tests: split the suite");
  });

  it("a message of megabytes keeps its beginning and its end", () => {
    const report = parseJunit(
      suite(`<testcase name="a"><failure message="first">${"x".repeat(5_000_000)}</failure></testcase>`),
    );
    const message = report.tests[0]?.message ?? "";
    expect(message.length).toBeLessThanOrEqual(4000);
    expect(message).toMatch(/^first\nx+\n…\nx+$/);
  });

  it.each([
    ["open brackets", "<".repeat(2_000_000)],
    ["ampersands", `<testsuite name="${"&#".repeat(1_000_000)}"/>`],
    ["spaces in a tag", `<testsuite ${" ".repeat(2_000_000)}`],
    ["a name without end", `<testsuite><${"a".repeat(2_000_000)}`],
    [
      "escape sequences",
      suite(`<testcase name="a"><failure>${"\u001b[".repeat(1_000_000)}</failure></testcase>`),
    ],
  ])("%s by the million are read in one go", (_, text) => {
    expect(parseJunit(text).tests.length).toBeLessThanOrEqual(1);
  });
});
