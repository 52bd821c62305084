import { InvalidOptionsError, MissingPromptArgumentError } from "../errors.ts";
import type { PromptArgs } from "../options/promptArgs.ts";
import { argumentKeys, type TemplatePart } from "./promptTemplate.ts";
import { shellCommand } from "./shellCommand.ts";

/** A prompt before its arguments are substituted. */
export interface UnresolvedPrompt {
  /** The file of the template; `undefined` for an inline prompt. */
  readonly promptFile: string | undefined;
  readonly template: readonly TemplatePart[];
}

/** A command to run in the sandbox. Its output becomes part of the prompt. */
export interface ShellExpression {
  /** As it is written in the template. */
  readonly source: string;
  readonly command: string;
}

/** A prompt with its arguments substituted. Its expressions run before each iteration. */
export interface ResolvedPrompt {
  readonly promptFile: string | undefined;
  readonly parts: readonly (string | ShellExpression)[];
}

const checkBuiltIns = (args: PromptArgs, builtIns: PromptArgs): void => {
  const overridden = Object.keys(builtIns).filter((key) => Object.hasOwn(args, key));
  if (overridden.length > 0) {
    throw new InvalidOptionsError(
      "promptArgs",
      `${overridden.join(" and ")} ${overridden.length === 1 ? "is a built-in prompt argument" : "are built-in prompt arguments"} and cannot be set. Use another key.`,
    );
  }
};

/** The keys of the template without a value. */
export const missingArguments = ({ template }: UnresolvedPrompt, known: PromptArgs): string[] =>
  argumentKeys(template).filter((key) => !Object.hasOwn(known, key));

/** Substitutes the prompt arguments, on the host, before anything is created. Throws if one is missing. */
export const substituteArguments = (
  prompt: UnresolvedPrompt,
  args: PromptArgs,
  builtIns: PromptArgs,
): ResolvedPrompt => {
  checkBuiltIns(args, builtIns);
  const { promptFile, template } = prompt;
  const known = { ...args, ...builtIns };
  const values = new Map(Object.entries(known));
  const missing = missingArguments(prompt, known);
  if (missing.length > 0 && promptFile !== undefined) {
    throw new MissingPromptArgumentError(missing, promptFile, [...values.keys()]);
  }
  const valueFor = (key: string): string => String(values.get(key));
  const parts = template.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "argument") return valueFor(part.key);
    return { source: part.source, command: shellCommand(part, valueFor) };
  });
  return { promptFile, parts };
};

/** The prompt arguments that the template does not use. */
export const unusedArguments = ({ template }: UnresolvedPrompt, args: PromptArgs): string[] => {
  const used = argumentKeys(template);
  return Object.keys(args).filter((key) => !used.includes(key));
};
