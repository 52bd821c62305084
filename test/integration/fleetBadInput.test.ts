import { expect, it } from "vitest";
import { InvalidOptionsError, InvalidTaskError, runAll, type SandduneError } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { expectUntouched } from "../cli/fixtures.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { commit, gate, onBranch, task } from "./fleets.ts";

const refusalOf = async (tasks: unknown, options?: unknown): Promise<SandduneError> => {
  const started: unknown[] = [];
  const onProgress = (event: unknown) => started.push(event);
  const given = options ?? { onProgress };
  const error = await (runAll as (...args: unknown[]) => Promise<unknown>)(tasks, given).then(
    () => undefined,
    (reason: SandduneError) => reason,
  );
  expect(started).toEqual([]);
  return error as SandduneError;
};

const good = (cwd: string, overrides: object = {}) => task(cwd, [commit("Never")], overrides);

it.each([
  ["no list", "tasks", /must be a list/, undefined, {}],
  ["a text", "tasks", /must be a list/, "abc", {}],
  ["a concurrency of nothing", "concurrency", /1 or more/, [], { concurrency: 0 }],
  ["half a retry", "retries", /0 or more/, [], { retries: 0.5 }],
  ["fewer retries than none", "retries", /0 or more/, [], { retries: -1 }],
  ["an option that there is not", "concurency", /Known are: concurrency/, [], { concurency: 3 }],
  ["a signal that is none", "signal", /AbortSignal/, [], { signal: {} }],
  ["a callback that is none", "onProgress", /function/, [], { onProgress: "print" }],
  ["options that are none", "options", /must be an object/, [], 3],
])("refuses %s, by the name of the option", async (_, option, problem, tasks, options) => {
  const error = await refusalOf(tasks, options);
  expect(error).toBeInstanceOf(InvalidOptionsError);
  expect(error).toMatchObject({ option, problem: expect.stringMatching(problem) });
});

it.each([
  ["unknown options", { maxIteration: 3 }, /`maxIteration`: there is no such option/],
  ["wrong options", { maxIterations: 0 }, /`maxIterations`: must be a whole number/],
  [
    "a branch that cannot be",
    { branchStrategy: { type: "branch", branch: "a..b" } },
    /"a\.\.b" cannot be used/,
  ],
  ["head in an isolated sandbox", { branchStrategy: { type: "head" } }, /an isolated sandbox cannot work/],
  ["no prompt", { prompt: undefined }, /pass `prompt` with the text/],
])("refuses a list in which a task has %s, and starts none of the others", async (_, wrong, says) => {
  const cwd = temporaryRepository();
  const error = await refusalOf([good(cwd, onBranch("a")), good(cwd, wrong)]);
  expect(error).toBeInstanceOf(InvalidTaskError);
  expect(error).toMatchObject({ index: 1, problem: expect.stringMatching(says) });
  expect(error.message).toMatch(/^tasks\[1\]: /);
  expectUntouched(cwd);
});

const HEAD = { sandbox: bubblewrap(), branchStrategy: { type: "head" } };
const MERGE = { branchStrategy: { type: "merge-to-head" } };

it.each([
  ["on the same branch", [onBranch("a"), MERGE, onBranch("a")], 2, /branch a, and so does tasks\[0\]/],
  ["in the same checkout", [HEAD, onBranch("a"), HEAD], 2, /checkout .*, and so does tasks\[0\].*`head`/],
  [
    "in one where others are merged",
    [MERGE, HEAD],
    0,
    /merged into the checkout .*, but tasks\[1\] works there/,
  ],
  [
    "under the same name",
    [
      { ...onBranch("a"), name: "x" },
      { ...onBranch("b"), name: "x" },
    ],
    1,
    /called "x", and so is tasks\[0\]/,
  ],
])("refuses a list in which two tasks work %s", async (_, tasks, index, says) => {
  const cwd = temporaryRepository();
  const error = await refusalOf(tasks.map((overrides) => good(cwd, overrides)));
  expect(error).toBeInstanceOf(InvalidTaskError);
  expect(error).toMatchObject({ index, problem: expect.stringMatching(says) });
  expectUntouched(cwd);
});

it("lets tasks have the same branch in different repositories", async () => {
  const repositories = [temporaryRepository(), temporaryRepository()];
  const { succeeded } = await runAll(repositories.map((cwd) => good(cwd, onBranch("a"))));
  expect(succeeded).toBe(2);
});

it("fails only the second of two tasks that are on one branch, if they come one after the other", async () => {
  const cwd = temporaryRepository();
  const { wait, reached, open } = gate();
  async function* tasks() {
    yield task(cwd, [wait("first"), commit("First")], onBranch("a"));
    await reached("first");
    yield task(cwd, [commit("Second")], onBranch("a"));
  }
  const { outcomes } = await runAll(tasks(), {
    concurrency: 2,
    onProgress: (event) => {
      if (event.type === "finished" && event.outcome.index === 1) open("first");
    },
  });
  expect(outcomes.map(({ state }) => state)).toEqual(["succeeded", "failed"]);
  expect(outcomes[1]?.error).toMatchObject({ name: "BranchInUseError", branch: "a" });
});
