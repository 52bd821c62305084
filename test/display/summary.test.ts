import { describe, expect, it } from "vitest";
import { nextLines, reachedLines, tallyLines, warningLines } from "../../src/display/summary.ts";
import { Tally } from "../../src/display/tally.ts";
import type { IterationUsage } from "../../src/options/results.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";
const STAMP = { iteration: 1, timestamp: new Date(0) };
/** What terminal mode puts before a line of the summary. */
const INDENT = 2;

const usage = (count: number): IterationUsage => ({
  inputTokens: count,
  cacheCreationInputTokens: count * 10,
  cacheReadInputTokens: count * 100,
  outputTokens: count * 1000,
});

const tallyOf = (...counts: number[]): Tally => {
  const tally = new Tally(performance.now());
  for (const count of counts) tally.count({ type: "usage", usage: usage(count), ...STAMP });
  return tally;
};

const withoutDuration = (lines: readonly string[]) => lines.filter((line) => !line.startsWith("Duration"));

describe("the figures of a run", () => {
  it("are iterations, tool calls and duration", () => {
    const tally = tallyOf();
    tally.iterations = 3;
    for (let count = 0; count < 1234; count++)
      tally.count({ type: "toolCall", name: "shell", input: {}, ...STAMP });
    expect(withoutDuration(tallyLines(tally))).toEqual(["Iterations  3", "Tool calls  1,234"]);
    expect(tallyLines(tally).at(-1)).toMatch(/^Duration {4}\d+\.\d s$/);
  });

  it("tell how many tool calls have failed", () => {
    const tally = tallyOf();
    for (const isError of [true, false]) {
      tally.count({ type: "toolCall", name: "shell", input: {}, ...STAMP });
      tally.count({ type: "toolResult", output: "", isError, ...STAMP });
    }
    expect(tallyLines(tally)).toContain("Tool calls  2, 1 failed");
  });

  it("have the tokens of all iterations, with all kinds of input counted as input", () => {
    expect(tallyLines(tallyOf(1, 2))).toContain("Tokens      333 in (300 cached), 3,000 out");
  });

  it("say nothing of tokens when the agent does not", () => {
    expect(tallyLines(tallyOf()).join("\n")).not.toContain("Tokens");
  });

  it("do not count events of other kinds", () => {
    const tally = tallyOf();
    tally.count({ type: "text", text: "toolCall", ...STAMP });
    tally.count({ type: "toolResult", output: "", ...STAMP });
    expect(tally.toolCalls).toBe(0);
  });

  it("fit into 80 columns however large they are", () => {
    const tally = tallyOf(1_000_000_000);
    tally.iterations = 1_000_000;
    for (const line of tallyLines(tally)) expect(line.length + INDENT).toBeLessThanOrEqual(80);
  });
});

describe("what a run reached", () => {
  const everything = {
    runId: "run",
    branch: "agent/fix-42",
    commits: [{ sha: SHA }, { sha: SHA }],
    keptRefs: [{ ref: "refs/sanddune/runs/r/x", name: "refs/heads/x", sha: SHA }],
    completionSignal: "<promise>COMPLETE</promise>",
    preservedWorktreePath: "/w",
    protectedPaths: [".github/workflows/ci.yml"],
    logFilePath: "/l",
  };

  it("is shown with one item a line", () => {
    expect(reachedLines(everything)).toEqual([
      "Branch      agent/fix-42",
      "Commits     2",
      `            ${SHA}`,
      `            ${SHA}`,
      "Elsewhere   these are not on the branch:",
      "            x: refs/sanddune/runs/r/x",
      "Signal      <promise>COMPLETE</promise>",
      "Worktree    kept: /w",
      "            to check out agent/fix-42 here:",
      "            git worktree remove /w && git switch agent/fix-42",
      "Careful     these run automatically once checked out:",
      "            .github/workflows/ci.yml",
      "Log         /l",
    ]);
  });

  const work = {
    commits: [{ sha: SHA, short: "0123456", subject: "Say goodbye" }],
    files: [
      { path: "farewell.sh", added: 1, deleted: 0 },
      { path: "logo.png" },
      { path: "README.md", added: 12, deleted: 3 },
    ],
    base: "base",
    currentBranch: "main",
  };
  const nextOf = (reached: object, hasSucceeded = true) =>
    nextLines({ ...everything, work, ...reached }, hasSucceeded);

  it("names commits by short names and subjects, and counts the changed lines of each file", () => {
    expect(reachedLines({ ...everything, work }).slice(1, 8)).toEqual([
      "Commits     2",
      "            0123456 Say goodbye",
      "            0123456 Say goodbye",
      "Changes     3 files, +13 -3",
      "            +1 -0   farewell.sh",
      "            binary  logo.png",
      "            +12 -3  README.md",
    ]);
  });

  it("names commits as a whole where programs look for them", () => {
    expect(reachedLines({ ...everything, work }, { wholeNames: true })).toContain(
      `            ${SHA} Say goodbye`,
    );
  });

  it("is followed by the commands to look at the commits, and to take them if the run has succeeded", () => {
    expect(nextOf({})).toEqual([
      "Next        git diff HEAD...agent/fix-42",
      "            git merge agent/fix-42",
    ]);
    expect(nextOf({}, false)).toEqual(["Next        git diff HEAD...agent/fix-42"]);
    expect(nextOf({ branch: "main" })).toEqual(["Next        git log --patch -2"]);
    expect(nextOf({ branch: "main", commits: [{ sha: SHA }] })).toEqual(["Next        git show 0123456"]);
    expect(nextOf({ branch: "it's" })[1]).toBe("            git merge 'it'\\''s'");
  });

  it("fits into 80 columns as far as the words are sanddune's", () => {
    for (const line of reachedLines(everything)) expect(line.length + INDENT).toBeLessThanOrEqual(80);
  });

  it("cannot be forged by the name of a file", () => {
    const lines = reachedLines({ runId: "run", protectedPaths: [".husky/x\nCommits     0 (forged)"] });
    expect(lines.at(-1)).toBe("            .husky/x\\nCommits     0 (forged)");
  });

  it("leaves out what is not there", () => {
    expect(reachedLines({ runId: "run", branch: "main" })).toEqual(["Branch      main", "Commits     none"]);
  });

  it("is nothing when the run had not begun", () => {
    expect(reachedLines({ branch: "main" })).toEqual([]);
  });

  it("tells each warning", () => {
    expect(warningLines({ warnings: ["One.", "Two."] })).toEqual(["Warning     One.", "Warning     Two."]);
    expect(warningLines({})).toEqual([]);
  });
});
