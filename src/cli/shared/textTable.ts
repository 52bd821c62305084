import { shortenTo, widthOf } from "../../display/columns.ts";
import { neutralise } from "../../display/neutralise.ts";
import { oneLine } from "../../tools/shorten.ts";

const GAP = "  ";

/** A table with a line for each row. What is too long for the terminal is cut off. */
export const textTable = (
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): string[] => {
  // Before they are measured: what is made visible is wider.
  const shown = rows.map((row) => row.map((text) => neutralise(oneLine(text))));
  const all = [headings, ...shown];
  const widths = headings.map((_, column) =>
    all.reduce((width, row) => Math.max(width, widthOf(row[column] ?? "")), 0),
  );
  const cell = (text: string, column: number): string =>
    text + " ".repeat((widths[column] ?? 0) - widthOf(text));
  return all.map((row) => shortenTo(row.map(cell).join(GAP).trimEnd(), columns));
};
