import { describe, expect, it } from "vitest";
import { checkSuite } from "../../../src/environment/suites/checkSuite.ts";
import type { SuiteDefinition } from "../../../src/environment/suites/definition.ts";
import { isSuite, suite } from "../../../src/environment/suites/suite.ts";
import { InvalidOptionsError } from "../../../src/errors.ts";

it.each<SuiteDefinition>([
  { runner: "vitest" },
  { runner: "go", args: ["-race", "./..."], cwd: "services/api", timeoutMs: 5000 },
  { runner: "pytest", args: ["{environment}/tests"], cwd: "." },
  { command: "make test", format: "junit", report: "build/report.xml" },
  { command: "make test", format: "tap", report: "{scratch}/report.tap" },
  { command: "make lint", format: "exit-code" },
])("%j is a suite", (definition) => {
  expect(checkSuite(definition)).toBeUndefined();
  const made = suite(definition);
  expect(isSuite(made)).toBe(true);
  expect(made.definition).toEqual(definition);
  // It may come from another copy of sanddune, or from another process.
  expect(isSuite(JSON.parse(JSON.stringify(made)))).toBe(true);
});

describe("what is no suite, and why", () => {
  it.each([
    [undefined, "A suite is an object"],
    ["pytest", "A suite is an object"],
    [[], "A suite is an object"],
    [{}, "has a `runner` (vitest, node, pytest, go) or a `command`, and not both"],
    [{ runner: "node", command: "x", format: "tap" }, "and not both"],
    [{ runner: "jest" }, "`runner` of a suite: expected one of: vitest, node, pytest, go; got a string."],
    [
      { runner: "node", arguments: [] },
      "A suite with a `runner` has no `arguments`; expected one of: runner, args, cwd",
    ],
    [{ runner: "node", report: "x" }, "A suite with a `runner` has no `report`"],
    [{ runner: "node", __proto__: null, constructor: 1 }, "has no `constructor`"],
    [{ runner: "node", args: "a" }, "`args` of a suite: must be a list of strings; got"],
    [{ runner: "node", args: ["a\0b"] }, "`args` of a suite: must be a list of strings; got"],
    [{ runner: "node", cwd: "/etc" }, "`cwd` of a suite: must be a directory inside the worktree"],
    [{ runner: "node", cwd: "a/../../b" }, "`cwd` of a suite: must be a directory inside the worktree"],
    [{ runner: "node", cwd: "" }, "`cwd` of a suite: must be a directory inside the worktree"],
    [{ runner: "node", timeoutMs: 0 }, "`timeoutMs` of a suite: must be a number of milliseconds, above 0"],
    [{ runner: "node", timeoutMs: 1e12 }, "`timeoutMs` of a suite: must be a number of milliseconds"],
    [{ runner: "node", timeoutMs: Number.NaN }, "`timeoutMs` of a suite: must be a number of milliseconds"],
    [{ command: "x" }, "`format` of a suite: expected one of: junit, tap, exit-code; got"],
    [{ command: " ", format: "tap" }, "`command` of a suite: must be a line for sh; got a string"],
    [{ command: "x", format: "trx" }, "`format` of a suite: expected one of: junit, tap, exit-code; got"],
    [
      { command: "x", format: "junit", report: "../x.xml" },
      "`report` of a suite: must be the path of a file",
    ],
    [
      { command: "x", format: "junit", report: "{scratch}/../x.xml" },
      "`report` of a suite: must be the path of a file",
    ],
    [
      { command: "x", format: "junit", report: "reports/" },
      "`report` of a suite: must be the path of a file",
    ],
    [{ command: "x", format: "exit-code", report: "x" }, "has no `report`: it would not be read"],
    [{ command: "x", format: "tap", args: [] }, "A suite with a `command` has no `args`"],
  ])("%j", (value, problem) => {
    expect(checkSuite(value)).toContain(problem);
    expect(isSuite({ type: "suite", definition: value })).toBe(false);
    expect(() => suite(value as SuiteDefinition)).toThrow(InvalidOptionsError);
  });
});

it("is not changed by whoever holds it, or what it was made of", () => {
  const args = ["a"];
  const { definition } = suite({ runner: "node", args });
  args.push("b");
  expect(definition).toEqual({ runner: "node", args: ["a"] });
  expect(() => Object.assign(definition, { runner: "go" })).toThrow(TypeError);
  expect(() => ("args" in definition ? (definition.args as string[]).push("c") : 0)).toThrow(TypeError);
});
