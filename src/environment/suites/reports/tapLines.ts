/** A parsed line of TAP; `level` counts the tests around it. */
export type TapLine =
  | {
      readonly type: "point";
      readonly level: number;
      readonly isOk: boolean;
      readonly name: string;
      readonly isSkipped: boolean;
      readonly durationMs: number | undefined;
    }
  | { readonly type: "plan"; readonly level: number; readonly count: number }
  | { readonly type: "bailOut"; readonly reason: string }
  | { readonly type: "comment"; readonly text: string }
  | { readonly type: "other"; readonly text: string };

const INDENTATION = 4;
const MAX_LEVEL = 64;
/** No name of a test is longer. */
const MAX_CHARACTERS = 8192;

const POINT = /^(not )?ok(?=\s|$)(?:\s+\d+(?=\s|$))?(?:\s+-(?=\s|$))?/;
const DIRECTIVE = /(?:^|\s)#\s*(?:skip|todo\b)/i;
const TIME = /(?:^|\s)# time=([\d.]{1,20})(ms|s)\s*$/;
const PLAN = /^1\.\.(\d{1,9})\s*(?:#.*)?$/;

const unescaped = (text: string): string => text.replace(/\\([#\\])/g, "$1");

const point = (line: string, level: number, start: RegExpExecArray): TapLine => {
  const rest = line.slice(start[0].length).trim();
  const directive = DIRECTIVE.exec(rest);
  const time = TIME.exec(rest);
  const end = Math.min(directive?.index ?? rest.length, time?.index ?? rest.length);
  return {
    type: "point",
    level,
    isOk: start[1] === undefined,
    name: unescaped(rest.slice(0, end).trim()),
    isSkipped: directive !== null,
    durationMs: time === null ? undefined : Number(time[1]) * (time[2] === "s" ? 1000 : 1),
  };
};

/** Parses a line. Other output is allowed between lines of TAP. */
export const readTapLine = (raw: string): TapLine => {
  const text = raw.slice(0, MAX_CHARACTERS);
  const line = text.trimStart();
  const indentation = text.length - line.length;
  const level = indentation / INDENTATION;
  if (line.startsWith("#")) return { type: "comment", text: unescaped(line.replace(/^# ?/, "")) };
  if (line.startsWith("Bail out!")) return { type: "bailOut", reason: line.slice("Bail out!".length).trim() };
  if (!Number.isInteger(level) || level > MAX_LEVEL) return { type: "other", text };
  const plan = PLAN.exec(line);
  if (plan !== null) return { type: "plan", level, count: Number(plan[1]) };
  const start = POINT.exec(line);
  return start === null ? { type: "other", text } : point(line, level, start);
};
