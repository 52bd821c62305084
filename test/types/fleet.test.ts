// What the compiler must refuse. The functions are never called: `tsc` is the judge.
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { command, type FleetResult, Output, type RunOptions, runAll } from "../../src/index.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";

const agent = command("true");

it("head is a compile-time error in a fleet of isolated sandboxes, and fine in one of bind-mount ones", () => {
  const cases = [
    // @ts-expect-error an isolated sandbox has no host directory to work in
    () => runAll([{ agent, sandbox: testIsolated(), prompt: "x", branchStrategy: { type: "head" } }]),
    () => runAll([{ agent, sandbox: docker(), prompt: "x", branchStrategy: { type: "head" } }]),
    () =>
      runAll([{ agent, sandbox: testIsolated(), prompt: "x", branchStrategy: { type: "merge-to-head" } }]),
    // @ts-expect-error no such option
    () => runAll([{ agent, sandbox: docker(), prompt: "x" }], { concurency: 2 }),
    // @ts-expect-error no prompt
    () => runAll([{ agent, sandbox: docker() }]),
  ];
  expect(cases).toHaveLength(5);
});

it("what is in the defaults may be left out of the tasks, and nothing else", () => {
  const defaults = { agent, sandbox: docker() };
  const cases = [
    () => runAll([{ prompt: "x" }, { prompt: "y", agent }], { defaults }),
    () => runAll([{ promptArgs: { ISSUE: 1 } }], { defaults: { ...defaults, promptFile: "issue.md" } }),
    // @ts-expect-error no prompt
    () => runAll([{ name: "x" }], { defaults }),
    // @ts-expect-error no sandbox
    () => runAll([{ prompt: "x" }], { defaults: { agent } }),
    // @ts-expect-error no such option
    () => runAll([{ prompt: "x" }], { defaults: { ...defaults, promt: "x" } }),
  ];
  expect(cases).toHaveLength(5);
});

it("tasks may be any list, and anything that can be iterated over", () => {
  const cases = [
    () => runAll(new Set<RunOptions>()),
    () => runAll([] as readonly RunOptions[]),
    (tasks: AsyncIterable<RunOptions>) => runAll(tasks, { retries: 1 }),
    (tasks: Iterable<RunOptions>) => runAll(tasks),
  ];
  expect(cases).toHaveLength(4);
});

it("outcomes have the type of the tasks' output, and nothing of what the agents said", () => {
  const output = Output.object({ tag: "answer", schema: z.object({ count: z.number() }) });
  const judge = () => runAll([{ agent, sandbox: docker(), prompt: "x", output }]);
  type Outcome = Awaited<ReturnType<typeof judge>>["outcomes"][number];
  expectTypeOf<Outcome["output"]>().toEqualTypeOf<{ count: number } | undefined>();
  expectTypeOf<Outcome>().not.toHaveProperty("stdout");
  expectTypeOf<FleetResult["succeeded"]>().toEqualTypeOf<number>();
});
