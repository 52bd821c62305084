// The figures as text, for the terminal and for docs/performance.md.
import { quartiles } from "../machine/measure.mjs";

const metText = (isMet) => (isMet === undefined ? "" : isMet ? "yes" : "no");

export const HEADINGS = ["", "raw commands", "peer", "sanddune", "difference", "target", "met"];

export const cellsOf = ({ name, raw, peer, own, figure, target, isMet }) => [
  name,
  raw,
  peer ?? "",
  own,
  figure,
  target,
  metText(isMet),
];

export const markdownTable = (headings, rows) => {
  const lines = [headings, headings.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
};

/** The same table, with columns that line up. */
export const terminalTable = (rows) => {
  const lines = [HEADINGS, ...rows.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((cells) => cells[column].length)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
};

const CONTESTANTS = { raw: "raw", peer: "peer", own: "sanddune" };
const range = (values) => quartiles(values).map(Math.round).join("–");

/** How far the samples lie apart. */
export const spreadLines = (rows) =>
  rows
    .filter(({ samples }) => samples !== undefined)
    .map(({ name, samples }) => {
      const ranges = Object.entries(CONTESTANTS)
        .filter(([key]) => samples[key]?.length > 0)
        .map(([key, contestant]) => `${contestant} ${range(samples[key])} ms`);
      return `${name}: middle half of the samples, ${ranges.join(", ")}`;
    });
