import { expect, it } from "vitest";
import { withDefaults } from "../../src/fleet/withDefaults.ts";

const common = {
  maxIterations: 3,
  env: { A: "common", B: "common" },
  promptFile: "issue.md",
  promptArgs: { X: "common", Y: "common" },
};

it("a task wins over what all tasks have in common; env vars and prompt arguments are merged by name", () => {
  expect(
    withDefaults(common, { maxIterations: 1, env: { B: "own" }, promptArgs: { Y: "own" }, name: "one" }),
  ).toEqual({
    maxIterations: 1,
    env: { A: "common", B: "own" },
    promptFile: "issue.md",
    promptArgs: { X: "common", Y: "own" },
    name: "one",
  });
});

it.each([{ prompt: "Own" }, { promptFile: "own.md" }])(
  "a prompt of its own takes the place of the common one, arguments included: %j",
  (own) => {
    expect(withDefaults(common, own)).toEqual({ maxIterations: 3, env: common.env, ...own });
  },
);

it("an option that is undefined counts as left out", () => {
  expect(withDefaults(common, { maxIterations: undefined, env: undefined, promptFile: undefined })).toEqual(
    common,
  );
});

it("nothing changes without defaults, and what is no task stays what it is", () => {
  const task = { prompt: "x" };
  expect(withDefaults(undefined, task)).toBe(task);
  expect(withDefaults(common, null)).toBe(null);
});
