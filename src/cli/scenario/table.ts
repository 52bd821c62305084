import type { Scenario } from "../../scenarios/spec.ts";
import { textTable } from "../shared/textTable.ts";

const HEADINGS = ["ID", "RUNNABLE", "AGENT", "FIXTURE", "TITLE"];

const cellsOf = ({ id, title, spec }: Scenario): string[] => [
  id,
  spec.runnable,
  spec.ide_platform ?? "-",
  spec.fixture ?? "-",
  title,
];

/** Scenarios as a table, a line each. */
export const scenarioTable = (scenarios: readonly Scenario[], columns?: number): string[] =>
  textTable(HEADINGS, scenarios.map(cellsOf), columns);
