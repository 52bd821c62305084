import { describe, expect, expectTypeOf, it } from "vitest";
import { definitionProblem } from "../../../src/environment/definition/checkDefinition.ts";
import { defineEnvironment, suite } from "../../../src/environment/index.ts";

const test = () => {};

describe("a definition", () => {
  it("is what defineEnvironment() got", () => {
    const definition = defineEnvironment({
      setup: async () => ({ port: 1 }),
      teardown: ({ port }) => expectTypeOf(port).toEqualTypeOf<number>(),
      tests: {
        plain: ({ session, parameters, worktree }) => {
          expectTypeOf(session).toEqualTypeOf<{ port: number }>();
          expectTypeOf(parameters["x"]).toEqualTypeOf<string | number | boolean | undefined>();
          expectTypeOf(worktree).toEqualTypeOf<string>();
        },
        "group/whole": {
          description: "x",
          parameters: { count: { type: "number", default: 1 } },
          timeoutMs: 5,
          run: test,
        },
        unit: suite({ runner: "node" }),
      },
      files: ["tests"],
      timeoutMs: 1000,
      concurrency: 2,
    });
    expect(definitionProblem(definition)).toBeUndefined();
  });

  it.each([
    [undefined, "is not what defineEnvironment"],
    [{}, "has no `tests`"],
    [
      { test: {} },
      "has `test`, which is unknown; expected one of: tests, setup, teardown, files, timeoutMs, concurrency",
    ],
    [{ tests: {} }, "has `tests`, which has no test"],
    [{ tests: [test] }, "must be an object: tests by their paths"],
    [{ tests: { a: "b" } }, 'has "a", which must be a function, {'],
    [{ tests: { a: {} } }, 'has "a", which has no `run`'],
    [{ tests: { a: { run: 1 } } }, 'has "a", which has `run`, which must be a function'],
    [{ tests: { a: { run: test, tags: [] } } }, 'has "a", which has `tags`, which is unknown'],
    [{ tests: { a: { run: test, timeoutMs: 0 } } }, "which must be a number of milliseconds"],
    [
      { tests: { a: { run: test, parameters: { n: { type: "list" } } } } },
      "the parameter n needs a `type`: string, number, boolean",
    ],
    [
      { tests: { a: { run: test, parameters: { n: { type: "number", default: "1" } } } } },
      "the parameter n has a `default` that is not a number",
    ],
    [
      { tests: { a: { run: test, parameters: { "a b": { type: "string" } } } } },
      'the name "a b" must have only letters',
    ],
    [{ tests: { "": test } }, "is empty"],
    [{ tests: { "a//b": test } }, "has two of them in a row"],
    [{ tests: { "a/../b": test } }, 'has a "." or ".."'],
    [{ tests: { "a\\b": test } }, "has a backslash or a control character"],
    [{ tests: { "a\nb": test } }, "has a backslash or a control character"],
    [{ tests: { ["x".repeat(513)]: test } }, "has more than 512 characters"],
    [{ tests: { a: test, "a/b": test } }, '"a" is a test, and also the beginning of "a/b"'],
    [{ tests: { a: { type: "suite", definition: {} } } }, 'has "a", which is a suite that cannot be run: '],
    [{ tests: { a: test }, setup: 1 }, "has `setup`, which must be a function"],
    [{ tests: { a: test }, files: [] }, "has `files`, which must be a list of paths"],
    [
      { tests: { a: test }, concurrency: 1.5 },
      "has `concurrency`, which must be a whole number from 1 to 64",
    ],
    [
      { tests: Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [index, test])) },
      "has more than 10000 tests",
    ],
    [{ tests: { a: { description: "x".repeat(1024 * 1024), run: test } } }, "shorten their descriptions"],
  ])("is refused (%#)", (definition, problem) => {
    expect(definitionProblem(definition)).toContain(problem);
  });
});
