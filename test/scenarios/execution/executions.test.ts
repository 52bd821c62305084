import { expect, it } from "vitest";
import type { RunnableFilter } from "../../../src/scenarios/contract.ts";
import { type Adapter, planExecutions } from "../../../src/scenarios/execution/executions.ts";
import { selectScenarios } from "../../../src/scenarios/execution/selectScenarios.ts";
import type { Runnable, Scenario } from "../../../src/scenarios/spec.ts";

const scenario = (runnable: Runnable, id: string = runnable): Scenario => ({
  id,
  title: id,
  page: `/suite/${id}.md`,
  spec: { runnable },
});
const ALL = (["cli", "agent", "both", "manual"] as const).map((runnable) => scenario(runnable));
const LOADED = { scenarios: ALL, ids: ALL.map(({ id }) => id), problems: [] };

it.each<[RunnableFilter, readonly string[]]>([
  ["cli", ["cli", "both"]],
  ["agent", ["agent", "both"]],
  ["both", ["both"]],
  ["any", ["cli", "agent", "both", "manual"]],
])("runnable %s means %j", (runnable, expected) => {
  expect(selectScenarios({ runnable }, LOADED).map(({ id }) => id)).toEqual(expected);
});

it("only names the scenarios among those that are meant", () => {
  expect(selectScenarios({ runnable: "cli", only: ["both", "agent"] }, LOADED).map(({ id }) => id)).toEqual([
    "both",
  ]);
});

it.each<[RunnableFilter, readonly Adapter[], readonly Adapter[]]>([
  ["cli", ["cli", "agent"], ["cli"]],
  ["agent", ["cli", "agent"], ["agent"]],
  ["both", ["cli", "agent"], ["cli", "agent"]],
  ["any", ["cli", "agent"], ["cli", "agent"]],
  ["any", ["cli"], ["cli"]],
  ["any", ["agent"], ["agent"]],
  ["any", [], ["agent"]],
])(
  "a scenario for both adapters, with runnable %s and %j available, is executed by %j",
  (runnable, available, by) => {
    const executions = planExecutions([scenario("both")], { runnable, available: () => available });
    expect(executions.map(({ adapter }) => adapter)).toEqual(by);
  },
);

it("a manual scenario is planned once, without an adapter", () => {
  const executions = planExecutions([scenario("manual")], {
    runnable: "any",
    available: () => ["cli"],
    repeat: 3,
  });
  expect(executions).toEqual([{ scenario: scenario("manual"), adapter: undefined }]);
});

it("an unavailable agent is planned once", () => {
  const executions = planExecutions([scenario("agent")], {
    runnable: "any",
    available: () => ["cli"],
    repeat: 3,
  });
  expect(executions).toEqual([{ scenario: scenario("agent"), adapter: "agent" }]);
});

it("repeating numbers the executions of each scenario and adapter", () => {
  const executions = planExecutions([scenario("both"), scenario("cli")], {
    runnable: "any",
    available: () => ["cli", "agent"],
    repeat: 2,
  });
  expect(executions.map(({ scenario: { id }, adapter, repeat }) => [id, adapter, repeat])).toEqual([
    ["both", "cli", { number: 1, of: 2 }],
    ["both", "cli", { number: 2, of: 2 }],
    ["both", "agent", { number: 1, of: 2 }],
    ["both", "agent", { number: 2, of: 2 }],
    ["cli", "cli", { number: 1, of: 2 }],
    ["cli", "cli", { number: 2, of: 2 }],
  ]);
});
