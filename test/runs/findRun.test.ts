import { describe, expect, it } from "vitest";
import { RunNotFoundError } from "../../src/errors/commandErrors.ts";
import { findRun } from "../../src/runs/findRun.ts";
import type { StoredRun } from "../../src/runs/storedRun.ts";

const runs = [
  { runId: "20300101-000000-aaaaaa", name: "nightly" },
  { runId: "20300101-000000-bbbbbb", name: undefined },
  { runId: "20300102-000000-aabbbb", name: "nightly" },
  { runId: "20300103-000000-cccccc", name: "20300102-000000-aabbbb" },
  { runId: "20300104-000000-dddddd", name: "2030" },
] as StoredRun[];

describe("a run is found", () => {
  it.each([
    ["by its id", "20300101-000000-bbbbbb", 1],
    ["by its id, even if another run has that name", "20300102-000000-aabbbb", 2],
    ["by the beginning of its id", "20300103", 3],
    ["by the end of its id", "aaaaaa", 0],
    ["by its name, even if ids begin with it", "2030", 4],
  ])("%s", (_, wanted, index) => {
    expect(findRun(runs, wanted)).toBe(runs[index]);
  });
});

describe("of several runs of one name", () => {
  const states = (first: string, last: string): StoredRun[] =>
    [
      { ...runs[0], state: first },
      { ...runs[2], state: last },
    ] as StoredRun[];

  it("the last one is shown", () => {
    const both = states("running", "failed");
    expect(findRun(both, "nightly", "last")).toBe(both[1]);
  });

  it.each([
    ["running", "failed", 0],
    ["failed", "running", 1],
    ["failed", "succeeded", 1],
  ])("the one that is running is stopped (%s, %s)", (first, last, index) => {
    const both = states(first, last);
    expect(findRun(both, "nightly", "running")).toBe(both[index]);
  });

  it("none is stopped if several are running", () => {
    expect(() => findRun(states("running", "running"), "nightly", "running")).toThrow(RunNotFoundError);
  });
});

describe("a run is found by its branch", () => {
  const onBranches = [
    { runId: "20300101-000000-aaaaaa", strategy: "branch", branch: "agent/x", state: "running" },
    { runId: "20300102-000000-bbbbbb", strategy: "branch", branch: "agent/x", state: "failed" },
    {
      runId: "20300103-000000-cccccc",
      strategy: "merge-to-head",
      branch: "sanddune/1",
      targetBranch: "main",
    },
    {
      runId: "20300104-000000-dddddd",
      strategy: "branch",
      branch: "y",
      targetBranch: "main",
      name: "agent/x",
    },
  ] as StoredRun[];
  const others = onBranches.slice(0, 3);

  it("of several the latest one, or the running one", () => {
    expect(findRun(others, "agent/x", "last")).toBe(onBranches[1]);
    expect(findRun(others, "agent/x", "running")).toBe(onBranches[0]);
  });

  it("by the branch of its commits and the one they were merged into; a name has precedence", () => {
    expect(findRun(onBranches, "main", "last")).toBe(onBranches[2]);
    expect(findRun(onBranches, "sanddune/1", "last")).toBe(onBranches[2]);
    expect(findRun(onBranches, "agent/x", "last")).toBe(onBranches[3]);
  });

  it("but never for a command that removes something", () => {
    expect(() => findRun(onBranches, "main")).toThrow(RunNotFoundError);
  });
});

describe("no run is found", () => {
  it.each([
    ["if several have that name", "nightly", [runs[0]?.runId, runs[2]?.runId]],
    ["if it could be several", "bbbb", ["20300101-000000-bbbbbb", "20300102-000000-aabbbb"]],
    ["if it could be several by their beginning", "20300101", [runs[0]?.runId, runs[1]?.runId]],
    ["if there is none of that name", "weekly", []],
    ["by the middle of its id", "000000", []],
    ["by nothing", "", []],
  ])("%s", (_, wanted, candidates) => {
    expect(() => findRun(runs, wanted)).toThrow(expect.objectContaining({ wanted, candidates }));
    expect(() => findRun(runs, wanted)).toThrow(RunNotFoundError);
  });
});
