import { neutralise } from "../display/neutralise.ts";
import { oneLine, shortenTo, widthOf } from "../display/shorten.ts";
import type { Scenario } from "../scenarios/spec.ts";

const HEADINGS = ["ID", "RUNNABLE", "AGENT", "FIXTURE", "TITLE"];
const GAP = "  ";

const cellsOf = ({ id, title, spec }: Scenario): string[] =>
  [id, spec.runnable, spec.ide_platform ?? "-", spec.fixture ?? "-", title]
    // Before they are measured: what is made visible is wider.
    .map((text) => neutralise(oneLine(text)));

/** Scenarios as a table, a line each. What is too long for the terminal is cut off. */
export const scenarioTable = (
  scenarios: readonly Scenario[],
  columns = Number.POSITIVE_INFINITY,
): string[] => {
  const rows = [HEADINGS, ...scenarios.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ""))));
  const cell = (text: string, column: number): string =>
    text + " ".repeat((widths[column] ?? 0) - widthOf(text));
  return rows.map((row) => shortenTo(row.map(cell).join(GAP).trimEnd(), columns));
};
