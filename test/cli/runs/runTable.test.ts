import { describe, expect, it } from "vitest";
import { runTable, showAge } from "../../../src/cli/runs/runTable.ts";
import { widthOf } from "../../../src/display/columns.ts";
import { showTokens } from "../../../src/display/tokens.ts";
import { readRun } from "../../../src/runs/storedRun.ts";
import { begun, runDirectory } from "../../runs/journal/journals.ts";

const tableOf = (changes: object, columns?: number): string[] => {
  const run = readRun(runDirectory([begun({ at: new Date().toISOString(), ...changes })]));
  return run === undefined ? [] : runTable([run], columns);
};

it.each([
  [0, "0 s"],
  [-5000, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [3_599_999, "59 min"],
  [3_600_000, "1 h"],
  [86_399_999, "23 h"],
  [86_400_000, "1 d"],
  [86_400_000 * 400, "400 d"],
])("an age of %i ms is shown as %s", (ageMs, shown) => {
  expect(showAge(ageMs)).toBe(shown);
});

it.each([
  [0, "0"],
  [999, "999"],
  [1000, "1.0k"],
  [12_345, "12.3k"],
  [999_949, "999.9k"],
  [999_950, "1.0M"],
  [4_500_000, "4.5M"],
])("%i tokens are shown as %s", (tokens, shown) => {
  expect(showTokens(tokens)).toBe(shown);
});

describe("the table of runs", () => {
  it("says of each run what there is to know, and a dash where there is nothing", () => {
    const [headings = "", row = ""] = tableOf({ agent: undefined, name: "nightly" });
    expect(headings).toMatch(/^RUN +STATE +AGE +TOKENS +AGENT +BRANCH +SANDBOX +NAME$/);
    expect(row).toMatch(/^\S+ {2}running {2}\d+ s +- {7}- {6}b +bubblewrap {2}nightly$/);
  });

  it.each(["sandbox", "worktree", "interactive"])("shows the kind of other sessions: %s", (kind) => {
    expect(tableOf({ kind })[1]).toContain(`running ${kind}`);
  });

  it("calls the branch HEAD where there is none", () => {
    expect(tableOf({ sourceBranch: undefined })[1]).toContain("  HEAD  ");
  });

  it.each([200, 100, 80, 40, 20, 5])("fits into %i columns, whatever is in it", (columns) => {
    for (const text of ["x".repeat(300), "漢".repeat(100), "👍 ".repeat(50), "\u001b[2J".repeat(50)]) {
      const lines = tableOf({ sourceBranch: text, name: text, agent: text }, columns);
      expect(lines.map(widthOf).filter((width) => width > columns)).toEqual([]);
    }
  });

  it("cuts the branch first", () => {
    const [, row] = tableOf({ sourceBranch: `agent/${"x".repeat(80)}`, name: "nightly" }, 100);
    expect(row).toMatch(/ {2}agent\/x+… {2}.*nightly$/);
  });

  it("keeps its columns below each other with wide characters", () => {
    const [headings = "", row = ""] = tableOf({ agent: "漢字", name: "here" });
    expect(widthOf(row.slice(0, row.indexOf("here")))).toBe(headings.indexOf("NAME"));
  });

  it.each(["name", "agent", "sandbox", "sourceBranch"])(
    "makes visible what would steer a terminal, in %s",
    (field) => {
      const lines = tableOf({ [field]: "\u001b]0;title\u0007\nsecond\r\u009b2J\u202e" });
      expect(lines).toHaveLength(2);
      expect(lines[1]).toContain("\\u001b]0;title\\u0007 second \\u009b2J\\u202e");
    },
  );
});
