import { setTimeout as delay } from "node:timers/promises";
import { neutralise } from "../../display/neutralise.ts";
import { terminalColumns } from "../shared/output.ts";

const EVERY_MS = 500;
const DEFAULT_ROWS = 24;
const DEFAULT_COLUMNS = 80;

/** Repaints lines in place until the process ends. The state of the terminal stays the same. */
export const repaint = async (lines: (columns: number) => readonly string[]): Promise<never> => {
  let painted = 0;
  for (;;) {
    const columns = terminalColumns() ?? DEFAULT_COLUMNS;
    // The last row is for the cursor.
    const rows = (process.stdout.rows || DEFAULT_ROWS) - 1;
    const shown = lines(columns).slice(0, rows);
    const up = painted > 0 ? `\u001b[${Math.min(painted, rows)}A` : "";
    const text = shown.map((line) => `${neutralise(line)}\n`).join("");
    process.stdout.write(`${up}\r\u001b[J${text}`);
    painted = shown.length;
    await delay(EVERY_MS);
  }
};
