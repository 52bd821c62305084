import { InvalidOptionsError } from "../errors.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import type { TemplateText } from "./promptTemplate.ts";
import { ShellContext } from "./shellContext.ts";

/** The text of a template between `` !` `` and `` ` ``. */
export interface ExpressionTemplate {
  readonly source: string;
  readonly parts: readonly TemplateText[];
}

/** Linux limits an argument to 128 KiB. */
const MAX_COMMAND_BYTES = 116 * 1024;

const EVALUATES =
  "some shells evaluate its value in or beside arithmetic, in [[ ]], in a parameter expansion and in an index. Move it elsewhere.";
/** Makes it unclear which quotes are open: the `)` of `case` patterns, and `$'…'` with escaped quotes. */
const UNCLEAR = /\bcase\b|\$'/;

const variableOf = (key: string): string => `_sanddune_arg_${key}`;

const refuse = (
  option: "promptFile" | "promptArgs",
  keys: string,
  source: string,
  problem: string,
): never => {
  throw new InvalidOptionsError(option, `${keys} in !\`${source}\`: ${problem}`);
};

/** A reference that expands to exactly the value in any kind of quotes. */
const reference = (key: string, { quotes }: ShellContext): string => {
  if (quotes === "double") return `\${${variableOf(key)}}`;
  return quotes === "single" ? `'"$${variableOf(key)}"'` : `"$${variableOf(key)}"`;
};

/** Replaces the arguments by references. Refuses positions where a shell would interpret the value. */
const withReferences = ({ source, parts }: ExpressionTemplate): string => {
  const context = new ShellContext();
  let textBefore = "";
  let shown = "";
  const command = parts.map((part) => {
    if (part.type === "text") {
      textBefore = part.text;
      context.read(part.text);
      return part.text;
    }
    shown = `{{${part.key}}}`;
    if (textBefore.endsWith("$")) {
      refuse("promptFile", shown, source, "the $ before it would make it another variable.");
    }
    if (context.evaluates) refuse("promptFile", shown, source, EVALUATES);
    textBefore = "";
    return reference(part.key, context);
  });
  if (shown !== "" && context.hasArithmetic) refuse("promptFile", shown, source, EVALUATES);
  if (shown !== "" && UNCLEAR.test(source)) {
    const problem =
      "beside `case` or $'…' it is unclear which quotes are open. Put the command into a script.";
    refuse("promptFile", shown, source, problem);
  }
  return command.join("");
};

/**
 * The command of a shell expression. The shell gets arguments as variables, whose values it does not interpret as
 * code. (A program may still interpret its arguments: `sh -c {{X}}` and `let {{X}}` run the value of X.)
 */
export const shellCommand = (expression: ExpressionTemplate, valueFor: (key: string) => string): string => {
  const command = withReferences(expression);
  const keys = new Set(expression.parts.flatMap((part) => (part.type === "argument" ? [part.key] : [])));
  const assignments = [...keys].map((key) => `${variableOf(key)}=${shellQuote(valueFor(key))}\n`);
  const whole = [...assignments, command].join("");
  const shown = [...keys].map((key) => `{{${key}}}`).join(", ");
  if (whole.includes("\0")) {
    refuse("promptArgs", shown, expression.source, "a NUL character cannot be passed to a shell.");
  }
  if (Buffer.byteLength(whole) > MAX_COMMAND_BYTES) {
    const problem = `more than ${MAX_COMMAND_BYTES} bytes are too long for a shell.`;
    refuse("promptArgs", shown, expression.source, problem);
  }
  return whole;
};
