import { shortenTo, widthOf } from "../../display/columns.ts";
import { neutralise } from "../../display/neutralise.ts";
import { showTokens } from "../../display/tokens.ts";
import { totalTokens } from "../../options/usage.ts";
import type { StoredRun } from "../../runs/storedRun.ts";
import { oneLine } from "../../tools/shorten.ts";

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** The age in its largest unit: `4 d`, `2 h`, `3 min`, `12 s`. */
export const showAge = (ageMs: number): string => {
  const seconds = Math.max(0, Math.floor(ageMs / 1000));
  const [unit, size] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ["s", 1];
  return `${Math.floor(seconds / size)} ${unit}`;
};

/** The most important first: a narrow terminal cuts off the others. */
const HEADINGS = ["RUN", "STATE", "AGE", "TOKENS", "AGENT", "BRANCH", "SANDBOX", "NAME"];
const BRANCH = HEADINGS.indexOf("BRANCH");
const MIN_BRANCH_WIDTH = 20;
const GAP = "  ";

/** The branch of the commits: of merge-to-head the target, because the name of a temporary branch says nothing. */
export const destinationOf = ({ strategy, branch, targetBranch }: StoredRun): string | undefined =>
  strategy === "merge-to-head" ? targetBranch : branch;

const cellsOf = (run: StoredRun, now: number): string[] =>
  [
    run.runId,
    run.kind === "run" ? run.state : `${run.state} ${run.kind}`,
    showAge(now - run.begunAt.getTime()),
    run.usage === undefined ? "-" : showTokens(totalTokens(run.usage)),
    run.agent ?? "-",
    destinationOf(run) ?? "HEAD",
    run.sandbox ?? "-",
    run.name ?? "",
    // Before they are measured: what is made visible is wider.
  ].map((text) => neutralise(oneLine(text)));

/** A table of runs. A long branch is cut to fit the terminal. */
export const runTable = (runs: readonly StoredRun[], columns = Number.POSITIVE_INFINITY): string[] => {
  const now = Date.now();
  const rows = [HEADINGS, ...runs.map((run) => cellsOf(run, now))];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ""))));
  const total = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  const excess = Math.max(0, total - columns);
  const branchWidth = widths[BRANCH] ?? 0;
  widths[BRANCH] = Math.max(Math.min(MIN_BRANCH_WIDTH, branchWidth), branchWidth - excess);
  const cell = (text: string, column: number): string => {
    const width = widths[column] ?? 0;
    const shown = shortenTo(text, width);
    return shown + " ".repeat(Math.max(0, width - widthOf(shown)));
  };
  return rows.map((row) => shortenTo(row.map(cell).join(GAP).trimEnd(), columns));
};
