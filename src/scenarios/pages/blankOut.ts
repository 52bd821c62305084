const blanks = (length: number): string => " ".repeat(length);

/** A line of JSON with its strings replaced by as many spaces. */
export const blankOutTexts = (line: string): string =>
  line.replace(/"(?:[^"\\]|\\.)*(?:"|$)/g, (found) => blanks(found.length));

/** For each run of backticks, the index of the next run of the same length. One pass, so that no line is slow. */
const closingRuns = (runs: readonly RegExpExecArray[]): readonly (number | undefined)[] => {
  const nextOfLength = new Map<number, number>();
  const closing = runs.map((): number | undefined => undefined);
  for (let number = runs.length - 1; number >= 0; number--) {
    const length = runs[number]?.[0].length ?? 0;
    closing[number] = nextOfLength.get(length);
    nextOfLength.set(length, number);
  }
  return closing;
};

/** A line of Markdown with its code spans replaced by as many spaces. */
export const blankOutCode = (line: string): string => {
  const runs = [...line.matchAll(/`+/g)];
  const closing = closingRuns(runs);
  let result = "";
  let end = 0;
  for (let number = 0; number < runs.length; number++) {
    const open = runs[number];
    const last = closing[number];
    const close = last === undefined ? undefined : runs[last];
    if (open === undefined || close === undefined || last === undefined) continue;
    const spanEnd = close.index + close[0].length;
    result += line.slice(end, open.index) + blanks(spanEnd - open.index);
    end = spanEnd;
    number = last;
  }
  return result + line.slice(end);
};
