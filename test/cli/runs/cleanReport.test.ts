import { expect, it } from "vitest";
import { cleanLines } from "../../../src/cli/runs/cleanReport.ts";
import type { CleanOutcome } from "../../../src/runs/clean/cleanUp.ts";

const REMOVAL = "sanddune clean --yes";

const item = (changes: Partial<CleanOutcome>): CleanOutcome => ({
  what: "worktree",
  name: "/w",
  runIds: ["first", "last"],
  detail: "clean",
  outcome: "removed",
  ...changes,
});

it("says so when there is nothing to do", () => {
  expect(cleanLines([], REMOVAL)).toEqual(["There is nothing to clean up."]);
});

it("lists what became of things, the same outcomes together, with reasons and the next command", () => {
  expect(
    cleanLines(
      [
        item({ outcome: "kept", keptBecause: "it holds changes", goesIfNamed: true, detail: "" }),
        item({}),
        item({ outcome: "kept", what: "branch", name: "b", keptBecause: "it is checked out at /c" }),
        item({ outcome: "failed", what: "files", name: "/f", problem: "no permission" }),
      ],
      REMOVAL,
    ),
  ).toEqual([
    "Removed:",
    "  worktree /w (clean)",
    "Kept:",
    "  worktree /w",
    "      it holds changes",
    expect.stringMatching(/^ {6}to remove it anyway: .*sanddune clean --run last$/),
    "  branch b (clean)",
    "      it is checked out at /c",
    "Could not be removed:",
    "  files /f (clean)",
    "      no permission",
  ]);
});

it("ends with how to do it, as long as nothing was done", () => {
  expect(cleanLines([item({ outcome: "wouldBeRemoved" })], REMOVAL)).toEqual([
    "Would be removed:",
    "  worktree /w (clean)",
    "Nothing was removed. To remove: sanddune clean --yes",
  ]);
});

it("does not say twice what a ref is", () => {
  const lines = cleanLines([item({ what: "ref", name: "refs/sanddune/base/x", detail: "" })], REMOVAL);
  expect(lines[1]).toBe("  refs/sanddune/base/x");
});
