import { expect, test } from "vitest";
import {
  betterOf,
  compareRatios,
  comparisonText,
  isPassed,
  updatedRatios,
} from "../../bench/report/ratios.mjs";

const benchmarks = [{ name: "docker-20" }, { name: "docker-200" }];

test("a ratio that is more than 25 % worse than the committed one is named, with both", () => {
  const committed = { "docker-20/total": 1.2, "docker-20/first-byte": 1.2 };
  const rows = [
    { id: "docker-20/total", ratio: 1.51 },
    { id: "docker-20/first-byte", ratio: 1.49 },
  ];
  const comparison = compareRatios({ committed, rows, benchmarks });
  expect(comparison.worse).toEqual([{ id: "docker-20/total", committed: 1.2, measured: 1.51 }]);
  expect(isPassed(comparison)).toBe(false);
  expect(comparisonText(comparison)).toBe("Worse: docker-20/total is 1.51, and 1.2 is committed (26 % more)");
});

test("a ratio that is better is no reason to fail", () => {
  const comparison = compareRatios({
    committed: { "docker-20/total": 1.2 },
    rows: [{ id: "docker-20/total", ratio: 0.3 }],
    benchmarks,
  });
  expect(comparison).toEqual({ compared: 1, worse: [], notCompared: [] });
  expect(isPassed(comparison)).toBe(true);
  expect(comparisonText(comparison)).toBe("None of 1 rows is more than 25 % worse than its committed ratio.");
});

test("a check that compares nothing does not pass", () => {
  const comparison = compareRatios({
    committed: {},
    rows: [{ id: "docker-20/total", ratio: 1 }],
    benchmarks,
  });
  expect(isPassed(comparison)).toBe(false);
  expect(comparisonText(comparison)).toMatch(/^Not compared: docker-20\/total .*\nNo row was compared\.$/);
});

test("a count that was 0 may not grow beyond its noise", () => {
  const worse = (ratio: number) =>
    compareRatios({
      committed: { "docker-20/objects": 0 },
      rows: [{ id: "docker-20/objects", ratio, noise: 2 }],
      benchmarks,
    }).worse.length;
  expect([0, 2, 3].map(worse)).toEqual([0, 0, 1]);
});

test("a row that could not be measured is not compared, and the reason is given", () => {
  const { worse, notCompared } = compareRatios({
    committed: { "docker-20/total": 1, "docker-200/total": 1 },
    rows: [{ id: "docker-200/total", ratio: 1 }],
    benchmarks: [{ name: "docker-20", problem: "there is no Docker" }, { name: "docker-200" }],
  });
  expect(worse).toEqual([]);
  expect(notCompared).toEqual([{ id: "docker-20/total", reason: "there is no Docker" }]);
});

test("a committed row that its benchmark no longer has is listed, and so is a row that is new", () => {
  const { notCompared } = compareRatios({
    committed: { "docker-20/gone": 1 },
    rows: [{ id: "docker-20/new", ratio: 1 }],
    benchmarks,
  });
  expect(notCompared).toEqual([
    { id: "docker-20/gone", reason: "nothing measures it any more" },
    { id: "docker-20/new", reason: "no ratio is committed for it" },
  ]);
});

test("rows of benchmarks that were not asked for are not mentioned", () => {
  const { notCompared } = compareRatios({ committed: { "flood/pace": 1 }, rows: [], benchmarks });
  expect(notCompared).toEqual([]);
});

test("an update keeps the ratios of rows that were not measured, in the order of their names", () => {
  const updated = updatedRatios({ "b/total": 1, "c/total": 2 }, [
    { id: "c/total", ratio: 1.23456 },
    { id: "a/total", ratio: 3 },
  ]);
  expect(Object.entries(updated)).toEqual([
    ["a/total", 3],
    ["b/total", 1],
    ["c/total", 1.23],
  ]);
});

test("of two measurements of a row the better one counts", () => {
  const rows = [
    { id: "a/total", ratio: 2 },
    { id: "b/total", ratio: 1 },
    { id: "c/total", ratio: 5 },
  ];
  const again = [
    { id: "a/total", ratio: 1.1 },
    { id: "b/total", ratio: 1.5 },
  ];
  expect(betterOf(rows, again).map(({ ratio }) => ratio)).toEqual([1.1, 1, 5]);
});
