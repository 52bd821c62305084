import { TextProblem } from "../../tools/json/textProblem.ts";

export interface FrontMatterValue {
  readonly value: string;
  readonly line: number;
}

const KEY_AND_VALUE = /^([\w-]+):(?:\s+(.*))?$/;
const QUOTED = /^(?:"([^"]*)"|'([^']*)')\s*(?:#.*)?$/;

const plain = (text: string): string => {
  const [, double, single] = QUOTED.exec(text) ?? [];
  return double ?? single ?? text.replace(/(?:^|\s)#.*$/, "").trim();
};

/** Reads the lines `key: value` between `---` at the top, without nested values. `end` counts its lines. */
export const readFrontMatter = (
  lines: readonly string[],
): { readonly values: ReadonlyMap<string, FrontMatterValue>; readonly end: number } => {
  const values = new Map<string, FrontMatterValue>();
  if (lines[0]?.trimEnd() !== "---") return { values, end: 0 };
  const closing = lines.findIndex((text, index) => index > 0 && text.trimEnd() === "---");
  if (closing === -1) throw new TextProblem(1, "the front matter has no end: a line --- is missing");
  for (const [index, text] of lines.slice(0, closing).entries()) {
    const [, key, value = ""] = KEY_AND_VALUE.exec(text.trimEnd()) ?? [];
    if (key === undefined) continue;
    const line = index + 1;
    if (values.has(key))
      throw new TextProblem(line, `the key ${key} occurs twice in the front matter. Keep one`);
    values.set(key, { value: plain(value), line });
  }
  return { values, end: closing + 1 };
};
