import { expect, it } from "vitest";
import { isScenarioRecord } from "../../../src/scenarios/records/isScenarioRecord.ts";
import type { ScenarioRecord } from "../../../src/scenarios/records/record.ts";
import { type RunnerHistory, recordsOf, reportModel } from "../../../src/scenarios/report/model.ts";
import { rateOf } from "../../../src/scenarios/report/wilson.ts";
import { failingRecord, minute, runRecord } from "./reportRecords.ts";

const FIRST = { id: "first", title: "The first" };

const runnersOf = (records: readonly ScenarioRecord[]): readonly RunnerHistory[] =>
  reportModel(records, [FIRST]).scenarios[0]?.runners ?? [];

const repeated = (number: number, of: number): Pick<ScenarioRecord, "repeat" | "started_at"> => ({
  repeat: { number, of, go: "first" },
  ...minute(number),
});

it.each([
  // Published values of the Wilson score interval without continuity correction.
  [0, 10, 0, 0.2775],
  [1, 10, 0.0179, 0.4042],
  [5, 10, 0.2366, 0.7634],
  [10, 10, 0.7225, 1],
  [81, 263, 0.2553, 0.3662],
  [1, 1, 0.2065, 1],
])("gives %i failures of %i their interval", (events, trials, low, high) => {
  const rate = rateOf(events, trials);
  expect(rate?.low).toBeCloseTo(low, 4);
  expect(rate?.high).toBeCloseTo(high, 4);
  expect(rate?.share).toBe(events / trials);
});

it("has no rate of nothing", () => {
  expect(rateOf(0, 0)).toBeUndefined();
});

it("shows scenarios in the order in which they are named, executed or not, and no others", () => {
  const model = reportModel(
    [runRecord(), runRecord({ test_id: "gone" }), failingRecord({ test_id: "a" })],
    [{ id: "z", title: "Z" }, FIRST, { id: "a", title: "A" }],
  );
  expect(model.scenarios.map(({ id, result }) => [id, result])).toEqual([
    ["z", "never"],
    ["first", "passing"],
    ["a", "failing"],
  ]);
  expect(model.counts).toEqual({ passing: 1, failing: 1, manual: 0, never: 1 });
  expect(model.executions).toBe(2);
});

it("has the executions newest first, whatever the order of the files", () => {
  const [runner] = runnersOf([1, 3, 2].map((number) => runRecord(minute(number))));
  expect(runner?.executions.map(({ started_at }) => started_at)).toEqual(
    [3, 2, 1].map((number) => minute(number).started_at),
  );
  expect(runner?.latest).toHaveLength(1);
});

it("separates runners by kind and provider, and counts the worst result", () => {
  const agent = (provider: string) => ({ kind: "agent", provider }) as const;
  const model = reportModel(
    [
      runRecord(minute(3)),
      failingRecord({ runner: agent("claude") }),
      runRecord({ runner: agent("codex"), result: "manual" }),
    ],
    [FIRST],
  );
  expect(model.scenarios[0]?.result).toBe("failing");
  expect(model.scenarios[0]?.runners.map(({ kind, provider, result }) => [kind, provider, result])).toEqual([
    ["agent", "claude", "failing"],
    ["agent", "codex", "manual"],
    ["cli", null, "passing"],
  ]);
});

it("takes an agent that could not be had at first for the same one that passes later", () => {
  const runner = { kind: "agent", provider: "claude-code" } as const;
  const runners = runnersOf([
    runRecord({ ...minute(1), runner: { ...runner, kind: "manual" }, result: "manual" }),
    runRecord({ ...minute(2), runner }),
  ]);
  expect(runners.map(({ kind, result, executions }) => [kind, result, executions.length])).toEqual([
    ["agent", "passing", 2],
  ]);
});

it("takes an agent that can no longer be had for the same one as before", () => {
  const runner = { kind: "agent", provider: "claude-code" } as const;
  const runners = runnersOf([
    runRecord({ ...minute(1), runner }),
    runRecord({ ...minute(2), runner: { ...runner, kind: "manual" }, result: "manual" }),
  ]);
  expect(runners.map(({ kind, result, executions }) => [kind, result, executions.length])).toEqual([
    ["agent", "manual", 2],
  ]);
});

it.each([
  ["cli", "failing", ["cli"], ["agent"]],
  ["agent", "passing", ["agent"], ["cli"]],
  ["both", "failing", ["agent", "cli"], []],
  ["manual", "failing", ["agent", "cli"], []],
  [undefined, "failing", ["agent", "cli"], []],
] as const)(
  "of what tool and agent have made of it, what counts for a scenario that is %s is %s",
  (runnable, result, runners, earlier) => {
    const records = [
      failingRecord(minute(1)),
      runRecord({ ...minute(2), runner: { kind: "agent", provider: "pi" } }),
    ];
    const [scenario] = reportModel(records, [{ ...FIRST, ...(runnable && { runnable }) }]).scenarios;
    expect(scenario?.result).toBe(result);
    expect(scenario?.runners.map(({ kind }) => kind)).toEqual(runners);
    expect(scenario?.earlier.map(({ kind }) => kind)).toEqual(earlier);
  },
);

it("keeps the history of what was executed, and nothing of other scenarios and runners", () => {
  const pi = { kind: "agent", provider: "pi" } as const;
  const kept = [
    runRecord({ ...minute(1), runner: pi }),
    runRecord({ ...minute(2), runner: { ...pi, kind: "manual" }, result: "manual" }),
    runRecord({ test_id: "second" }),
  ];
  const others = [
    runRecord(),
    runRecord({ runner: { ...pi, provider: "codex" } }),
    runRecord({ test_id: "second", runner: pi }),
    runRecord({ test_id: "third" }),
  ];
  const executed = [runRecord({ ...minute(9), runner: pi }), runRecord({ ...minute(9), test_id: "second" })];
  expect(recordsOf([...others, ...kept], executed)).toEqual(kept);
});

it("leaves out what claims to be newer than what was executed", () => {
  const executed = [failingRecord(minute(5))];
  const later = runRecord(minute(6));
  expect(recordsOf([runRecord(minute(4)), ...executed, later], executed)).toEqual([
    runRecord(minute(4)),
    ...executed,
  ]);
});

it("fails what failed once in its newest suite run, and measures how often", () => {
  const [runner] = runnersOf([
    runRecord(repeated(1, 3)),
    failingRecord(repeated(2, 3)),
    runRecord(repeated(3, 3)),
    runRecord({ started_at: "2025-01-01T00:00:00Z" }),
  ]);
  expect(runner).toMatchObject({
    result: "failing",
    latest: { length: 3 },
    flakeRate: { events: 1, trials: 3 },
    failureRate: { events: 1, trials: 4 },
  });
});

it("does not take two suite runs for one", () => {
  const again = (number: number) => ({ repeat: { number, of: 2, go: "second" }, ...minute(10 + number) });
  const [runner] = runnersOf([
    failingRecord(repeated(1, 2)),
    failingRecord(repeated(2, 2)),
    runRecord(again(1)),
    runRecord(again(2)),
  ]);
  expect(runner).toMatchObject({ result: "passing", flakeRate: { events: 0, trials: 2 } });
});

it("counts nothing as a pass or a failure that needed a person", () => {
  const [runner] = runnersOf([runRecord({ result: "manual" })]);
  expect(runner).not.toHaveProperty("failureRate");
  expect(runner).not.toHaveProperty("medianMs");
});

it.each([
  [[3, 1, 2], 2],
  [[4, 1, 2, 3], 2.5],
])("has the median of the durations %j", (durations, median) => {
  const [runner] = runnersOf(durations.map((duration_ms) => runRecord({ duration_ms })));
  expect(runner?.medianMs).toBe(median);
});

it("accepts a record that the runner wrote", () => {
  expect(isScenarioRecord(runRecord({ repeat: { number: 1, of: 2, go: "first" } }))).toBe(true);
});

it("takes a record for one that says which step was allowed to fail", () => {
  const step = { name: "lint", exit_code: 1, duration_ms: 1 };
  expect(isScenarioRecord(runRecord({ steps: [{ ...step, allow_nonzero: true }] }))).toBe(true);
  expect(isScenarioRecord({ ...runRecord(), steps: [{ ...step, allow_nonzero: "yes" }] })).toBe(false);
});

it.each([
  ["another schema", { schema: "other/v1" }],
  ["a time that is none", { started_at: "yesterday" }],
  ["a result that there is not", { result: "great" }],
  ["a step that is nothing", { steps: [null] }],
  ["an assertion without a detail", { assertions: [{ name: "a", ok: true }] }],
  ["a runner without a kind", { runner: {} }],
  ["a duration that is a text", { duration_ms: "1" }],
])("takes nothing for a record that has %s", (_, changes) => {
  expect(isScenarioRecord({ ...runRecord(), ...changes })).toBe(false);
});
