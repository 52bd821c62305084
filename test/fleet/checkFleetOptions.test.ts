import { describe, expect, it } from "vitest";
import { command } from "../../src/agents/command/provider.ts";
import { InvalidOptionsError, InvalidTaskError } from "../../src/errors.ts";
import { checkFleetOptions } from "../../src/fleet/checkFleetOptions.ts";
import { checkTasks } from "../../src/fleet/checkTasks.ts";
import type { RunOptions } from "../../src/options/runOptions.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { thrownBy } from "../helpers/processes/thrownBy.ts";

const task = (overrides: object = {}): RunOptions =>
  ({ agent: command("true"), sandbox: testIsolated(), prompt: "Work", ...overrides }) as RunOptions;
const refusalOfTasks = (...tasks: readonly object[]) => thrownBy(() => checkTasks(tasks.map(task)));

const onBranch = (branch: string) => ({ branchStrategy: { type: "branch", branch } });
const MERGE = { branchStrategy: { type: "merge-to-head" } };
const HEAD = { sandbox: bubblewrap(), branchStrategy: { type: "head" } };

describe("a fleet", () => {
  it.each([
    ["no list", "tasks", /must be a list/, undefined, {}],
    ["a text", "tasks", /must be a list/, "abc", {}],
    ["a concurrency of nothing", "concurrency", /1 or more/, [], { concurrency: 0 }],
    ["half a retry", "retries", /0 or more/, [], { retries: 0.5 }],
    ["fewer retries than none", "retries", /0 or more/, [], { retries: -1 }],
    ["an option that there is not", "concurency", /expected one of: concurrency/, [], { concurency: 3 }],
    ["a signal that is none", "signal", /AbortSignal/, [], { signal: {} }],
    ["a callback that is none", "onProgress", /function/, [], { onProgress: "print" }],
    ["options that are none", "options", /must be an object/, [], 3],
  ])("refuses %s, by the name of the option", (_, option, problem, tasks, options) => {
    const error = thrownBy(() => checkFleetOptions(tasks, options as never));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error).toMatchObject({ option, problem: expect.stringMatching(problem) });
  });

  it("takes a list, and whatever else can be iterated over", () => {
    const options = { concurrency: 1, retries: 0 };
    for (const tasks of [[], new Set(), (async function* () {})()]) checkFleetOptions(tasks, options);
  });
});

describe("a list of tasks", () => {
  it.each([
    ["unknown options", { maxIteration: 3 }, /`maxIteration`: there is no such option/],
    ["wrong options", { maxIterations: 0 }, /`maxIterations`: must be a whole number/],
    ["a branch that cannot be", onBranch("a..b"), /"a\.\.b" cannot be used/],
    ["head in an isolated sandbox", { branchStrategy: { type: "head" } }, /an isolated sandbox cannot work/],
    ["no prompt", { prompt: undefined }, /pass the text as `prompt`/],
  ])("is refused if one has %s", (_, wrong, says) => {
    const error = refusalOfTasks(onBranch("a"), wrong);
    expect(error).toBeInstanceOf(InvalidTaskError);
    expect(error).toMatchObject({ index: 1, problem: expect.stringMatching(says) });
    expect((error as Error).message).toMatch(/^tasks\[1\]: /);
  });

  it.each([
    ["on the same branch", [onBranch("a"), MERGE, onBranch("a")], 2, /branch a, as does tasks\[0\]/],
    ["in the same checkout", [HEAD, onBranch("a"), HEAD], 2, /checkout .*, as does tasks\[0\].*`head`/],
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
      /same name as tasks\[0\], "x"/,
    ],
  ])("is refused if two of them work %s", (_, tasks, index, says) => {
    const error = refusalOfTasks(...tasks);
    expect(error).toBeInstanceOf(InvalidTaskError);
    expect(error).toMatchObject({ index, problem: expect.stringMatching(says) });
  });

  it("may have the same branch in different repositories, and any number that are merged", () => {
    const tasks = [{ ...onBranch("a"), cwd: "/a" }, { ...onBranch("a"), cwd: "/b" }, MERGE, MERGE];
    expect(refusalOfTasks(...tasks)).toBeUndefined();
  });
});
