import { showTokens } from "../../display/tokens.ts";
import { totalTokens } from "../../options/usage.ts";
import type { StoredRun } from "../../runs/storedRun.ts";
import { textTable } from "../shared/textTable.ts";

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
const MIN_BRANCH_WIDTH = 20;

/** The branch of the commits: of merge-to-head the target, because the name of a temporary branch says nothing. */
export const destinationOf = ({ strategy, branch, targetBranch }: StoredRun): string | undefined =>
  strategy === "merge-to-head" ? targetBranch : branch;

const cellsOf = (run: StoredRun, now: number): string[] => [
  run.runId,
  run.kind === "run" ? run.state : `${run.state} ${run.kind}`,
  showAge(now - run.begunAt.getTime()),
  run.usage === undefined ? "-" : showTokens(totalTokens(run.usage)),
  run.agent ?? "-",
  destinationOf(run) ?? "HEAD",
  run.sandbox ?? "-",
  run.name ?? "",
];

/** A table of runs. A long branch is cut to fit the terminal. */
export const runTable = (runs: readonly StoredRun[], columns = Number.POSITIVE_INFINITY): string[] => {
  const now = Date.now();
  const rows = runs.map((run) => cellsOf(run, now));
  return textTable(HEADINGS, rows, columns, { heading: "BRANCH", minWidth: MIN_BRANCH_WIDTH });
};
