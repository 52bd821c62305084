import { expect, it } from "vitest";
import { testPathProblem } from "../../../src/environment/definition/testPath.ts";
import { DistinctPaths, pathOfNames } from "../../../src/environment/suites/testPaths.ts";

it.each([
  [["tests/a.test.ts", "adds"], "tests/a.test.ts/adds"],
  [["GET /users"], "GET /users"],
  [["/absolute//twice/"], "absolute/twice"],
  [["../../up/./here"], "up/here"],
  [[".."], "(unnamed)"],
  [[""], "(unnamed)"],
  [["a", " ", "b"], "a/(unnamed)/b"],
  [[], "(unnamed)"],
  [["C:\\a\\b"], "C:_a_b"],
  [["line\nend\u0000\u0085\u2028"], "line_end___"],
  [["\u202eturned"], "_turned"],
  [["half \ud83d of one, 😀 whole"], "half _ of one, 😀 whole"],
])("%j is %s", (names, path) => {
  expect(pathOfNames(names)).toBe(path);
});

it.each([
  ["long", ["x".repeat(10_000)]],
  ["long, of two parts each", ["😀".repeat(10_000)]],
  ["divided", ["a/".repeat(10_000)]],
  ["empty", ["/".repeat(1_000_000)]],
  ["deep", Array.from({ length: 10_000 }, () => "..")],
  ["of every kind", [Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join("")]],
])("names that are %s become a path that can be asked for", (_, names) => {
  const path = pathOfNames(names);
  expect(testPathProblem(`suite/${path}`)).toBeUndefined();
  expect(path.length).toBeLessThanOrEqual(300);
});

it("no path is told twice", () => {
  const paths = new DistinctPaths();
  expect(["a", "a", "a (2)", "a", "b"].map((path) => paths.add(path))).toEqual([
    "a",
    "a (2)",
    "a (2) (2)",
    "a (3)",
    "b",
  ]);
});
