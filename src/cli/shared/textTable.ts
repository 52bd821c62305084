import { shortenTo, widthOf } from "../../display/columns.ts";
import { neutralise } from "../../display/neutralise.ts";
import { oneLine } from "../../tools/shorten.ts";

const GAP = "  ";

/** A line for each row. If it is too long for the terminal, `narrow` is narrowed, and the line is cut off. */
export const textTable = (
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
  narrow?: { readonly heading: string; readonly minWidth: number },
): string[] => {
  // Before they are measured: what is made visible is wider.
  const shown = rows.map((row) => row.map((text) => neutralise(oneLine(text))));
  const all = [headings, ...shown];
  const widths = headings.map((_, column) =>
    all.reduce((width, row) => Math.max(width, widthOf(row[column] ?? "")), 0),
  );
  if (narrow !== undefined) {
    const column = headings.indexOf(narrow.heading);
    const width = widths[column] ?? 0;
    const excess = widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length) - columns;
    widths[column] = Math.max(Math.min(narrow.minWidth, width), width - Math.max(0, excess));
  }
  const cell = (text: string, column: number): string => {
    const shown = shortenTo(text, widths[column] ?? 0);
    return shown + " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(shown)));
  };
  return all.map((row) => shortenTo(row.map(cell).join(GAP).trimEnd(), columns));
};
