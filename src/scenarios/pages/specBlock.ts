import { TextProblem } from "../../tools/json/textProblem.ts";
import { blankOutCode, blankOutTexts } from "./blankOut.ts";

export const BLOCK_START = "<!-- sandbox-spec:start -->";
export const BLOCK_END = "<!-- sandbox-spec:end -->";

/** The JSON of a page, with the number of its first line. */
export interface SpecBlock {
  readonly text: string;
  readonly line: number;
}

interface Marker {
  readonly line: number;
  readonly isStart: boolean;
  /** The start and end columns. */
  readonly from: number;
  readonly to: number;
}

/** Matches misspelt markers, too: they must not turn a scenario into prose. */
const MARKER = /<!--\s*sandbox-spec\b(.{0,80}?)-->/gi;
const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;
/** A page has one pair of markers. After this many, the search ends. */
const MAX_MARKERS = 4;

/** Blanks out quoted markers: code spans in prose, strings in the block's JSON. */
const unquoted = (line: string, isInBlock: boolean): string =>
  isInBlock ? blankOutTexts(line) : blankOutCode(line);

const markersIn = (text: string, line: number, offset: number): Marker[] =>
  [...text.matchAll(MARKER)].map((found) => {
    const word = found[1]?.trim().toLowerCase();
    if (word !== ":start" && word !== ":end") {
      throw new TextProblem(line, `this is no marker: ${found[0]}. Write ${BLOCK_START} or ${BLOCK_END}`);
    }
    const from = offset + found.index;
    return { line, isStart: word === ":start", from, to: from + found[0].length };
  });

/** Finds the markers of a page, in order. Markers in code spans and code blocks do not count. */
const findMarkers = (lines: readonly string[]): readonly Marker[] => {
  const markers: Marker[] = [];
  const inCode: Marker[] = [];
  let fence: { readonly mark: string; readonly line: number } | undefined;
  for (const [index, text] of lines.entries()) {
    const line = index + 1;
    const isInBlock = markers.at(-1)?.isStart === true;
    const [, mark = "", info = ""] = isInBlock ? [] : (FENCE.exec(text) ?? []);
    if (fence !== undefined) {
      inCode.push(...markersIn(text, line, 0));
      if (mark.startsWith(fence.mark) && info.trim() === "") fence = undefined;
    } else if (mark.startsWith("~") || (mark !== "" && !info.includes("`"))) {
      fence = { mark, line };
    } else {
      let from = 0;
      // One after the other: each marker changes what counts as quoted.
      while (markers.length <= MAX_MARKERS) {
        const rest = unquoted(text.slice(from), markers.at(-1)?.isStart === true);
        const [marker] = markersIn(rest, line, from);
        if (marker === undefined) break;
        markers.push(marker);
        from = marker.to;
      }
    }
  }
  if (fence !== undefined) throw new TextProblem(fence.line, `the code fence ${fence.mark} is never closed`);
  const [shown] = inCode;
  if (markers.length === 0 && shown !== undefined) {
    throw new TextProblem(shown.line, "the markers are inside a code fence. Put the fence between them");
  }
  return markers;
};

const checkOrder = ([start, end, ...more]: readonly Marker[]): { start: Marker; end: Marker } => {
  if (start?.isStart === false) {
    throw new TextProblem(start.line, `there is no ${BLOCK_START} before this ${BLOCK_END}`);
  }
  if (start === undefined || end === undefined) {
    throw new TextProblem(start?.line ?? 1, `the block has no ${BLOCK_END}`);
  }
  const [extra] = end.isStart ? [end] : more;
  if (extra !== undefined) {
    throw new TextProblem(
      extra.line,
      `a page can have only one block, and it begins in line ${start.line}. Write another page for another scenario`,
    );
  }
  return { start, end };
};

const withoutFence = ({ text, line }: SpecBlock): SpecBlock => {
  const lines = text.split("\n");
  const first = lines.findIndex((content) => content.trim() !== "");
  const [, mark, info = ""] = FENCE.exec(lines[first] ?? "") ?? [];
  if (mark === undefined) return { text, line };
  const language = info.trim();
  if (language !== "" && language.toLowerCase() !== "json") {
    throw new TextProblem(line + first, `the code fence must be \`\`\`json, and is for ${language}`);
  }
  const closing = lines.findIndex((content, index) => index > first && content.trim() === mark);
  if (closing === -1) throw new TextProblem(line + first, `the code fence ${mark} is never closed`);
  const after = lines.findIndex((content, index) => index > closing && content.trim() !== "");
  if (after !== -1) throw new TextProblem(line + after, "there is text after the code fence of the block");
  return { text: lines.slice(first + 1, closing).join("\n"), line: line + first + 1 };
};

/** Finds the block between a page's markers, if any. Throws a `TextProblem` if these are ambiguous. */
export const findSpecBlock = (lines: readonly string[]): SpecBlock | undefined => {
  const markers = findMarkers(lines);
  if (markers.length === 0) return undefined;
  const { start, end } = checkOrder(markers);
  const content = lines.slice(start.line - 1, end.line);
  const last = content.length - 1;
  // The end first: both markers may be in one line.
  content[last] = content[last]?.slice(0, end.from) ?? "";
  content[0] = content[0]?.slice(start.to) ?? "";
  const block = withoutFence({ text: content.join("\n"), line: start.line });
  if (block.text.trim() === "") throw new TextProblem(start.line, "the block is empty");
  return block;
};
