/** Text, or a placeholder for a prompt argument. */
export type TemplateText =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "argument"; readonly key: string };

export type TemplatePart =
  | TemplateText
  | {
      readonly type: "expression";
      /** The command as it is written in the template. */
      readonly source: string;
      readonly parts: readonly TemplateText[];
    };

const KEY = "[A-Za-z_][A-Za-z0-9_]*";
/** A backslash escapes an expression. An expression has one line. */
const ARGUMENT = new RegExp(`(\\\\?)\\{\\{(${KEY})\\}\\}`, "g");
const MARKED = new RegExp(`(\\\\?)(?:\\{\\{(${KEY})\\}\\}|!\`([^\`\\n]+)\`)`, "g");

const text = (content: string): TemplateText[] => (content === "" ? [] : [{ type: "text", text: content }]);

/** Splits `source` at the matches of `pattern`. Escaped and invalid matches remain text. */
const split = <Part>(
  source: string,
  pattern: RegExp,
  read: (key: string | undefined, command: string | undefined) => Part | undefined,
): (Part | TemplateText)[] => {
  const parts: (Part | TemplateText)[] = [];
  let end = 0;
  for (const match of source.matchAll(pattern)) {
    const [whole, backslash, key, command] = match;
    const part = backslash === "" ? read(key, command) : undefined;
    if (part === undefined && backslash === "") continue;
    parts.push(...text(source.slice(end, match.index)));
    if (part === undefined) parts.push(...text(whole.slice(1)));
    else parts.push(part);
    end = match.index + whole.length;
  }
  return [...parts, ...text(source.slice(end))];
};

const argument = (key: string | undefined): TemplateText | undefined =>
  key === undefined ? undefined : { type: "argument", key };

/**
 * Parses a prompt template: `{{KEY}}` is a prompt argument, `` !`command` `` a shell expression. Happens before
 * values are substituted, so nothing in a value is interpreted.
 */
export const parseTemplate = (source: string): TemplatePart[] =>
  split<TemplatePart>(source, MARKED, (key, command) => {
    if (command === undefined) return argument(key);
    if (command.trim() === "") return undefined;
    return { type: "expression", source: command, parts: split(command, ARGUMENT, argument) };
  });

/** The keys of all prompt arguments of a template, each once, in the order of their first use. */
export const argumentKeys = (template: readonly TemplatePart[]): string[] => {
  const texts = template.flatMap((part) => (part.type === "expression" ? part.parts : [part]));
  return [...new Set(texts.flatMap((part) => (part.type === "argument" ? [part.key] : [])))];
};
