import { realpathSync } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { PRIVATE_PARTS } from "../configDirectory.ts";
import { InvalidOptionsError, MissingPromptArgumentError } from "../errors.ts";
import { argumentKeys, parseTemplate, type TemplatePart } from "./promptTemplate.ts";
import { shellCommand } from "./shellCommand.ts";

export type PromptArgs = Readonly<Record<string, string | number | boolean>>;

export interface PromptSource {
  readonly prompt?: string | undefined;
  readonly promptFile?: string | undefined;
}

/** What a prompt is made of, before its arguments are filled in. */
export interface UnresolvedPrompt {
  /** Where the template was read; `undefined` for an inline prompt. */
  readonly promptFile: string | undefined;
  readonly template: readonly TemplatePart[];
}

/** A command to be run in the sandbox, whose output becomes part of the prompt. */
export interface ShellExpression {
  /** As it is written in the template. */
  readonly source: string;
  readonly command: string;
}

/** A prompt with its arguments filled in: what is left to do, before each iteration, is to run its expressions. */
export interface ResolvedPrompt {
  readonly promptFile: string | undefined;
  readonly parts: readonly (string | ShellExpression)[];
}

/** Far above what any agent takes. */
const MAX_TEMPLATE_BYTES = 16 * 1024 * 1024;

const isInside = (directory: string, path: string): boolean => path.startsWith(join(directory, "/"));

/**
 * Why a file must not be a prompt, if it must not. What agents commit must not make a prompt of any file of the host:
 * a prompt file in the repository has to be there itself, not a link to somewhere else or to sanddune's own files.
 */
const problemOf = async (
  path: string,
  { topLevel, configDirectory }: PromptPlace,
): Promise<string | undefined> => {
  const status = await stat(path);
  if (!status.isFile()) return "is not a file";
  if (status.size > MAX_TEMPLATE_BYTES) return `is larger than ${MAX_TEMPLATE_BYTES} bytes`;
  const target = await realpath(path);
  const isPrivate = PRIVATE_PARTS.some((part) => `${target}/`.startsWith(join(configDirectory, part, "/")));
  if (isPrivate) return "is one of sanddune's own files";
  return isInside(topLevel, path) && !isInside(topLevel, target)
    ? `leads out of the repository, to ${target}`
    : undefined;
};

/** The repository that a prompt may be in. */
export type PromptPlace = { readonly topLevel: string; readonly configDirectory: string };

/** Reads the prompt. An inline prompt is a single piece of text: nothing in it has a meaning. */
export const readPrompt = async (
  { prompt, promptFile }: PromptSource,
  place: PromptPlace,
  signal: AbortSignal,
): Promise<UnresolvedPrompt> => {
  if (prompt !== undefined) return { promptFile: undefined, template: [{ type: "text", text: prompt }] };
  const path = resolve(realpathSync("."), promptFile ?? "");
  const refuse = (problem: string) => new InvalidOptionsError("promptFile", `${path} ${problem}`);
  try {
    const problem = await problemOf(path, place);
    if (problem !== undefined) throw refuse(problem);
    const template = await readFile(path, { encoding: "utf8", signal });
    if (template.trim() === "") throw refuse("is empty");
    return { promptFile: path, template: parseTemplate(template) };
  } catch (error) {
    if (error instanceof InvalidOptionsError || signal.aborted) throw error;
    throw refuse(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
};

const checkBuiltIns = (args: PromptArgs, builtIns: PromptArgs): void => {
  const overridden = Object.keys(builtIns).filter((key) => Object.hasOwn(args, key));
  if (overridden.length > 0) {
    throw new InvalidOptionsError(
      "promptArgs",
      `${overridden.join(" and ")} ${overridden.length === 1 ? "is a built-in prompt argument" : "are built-in prompt arguments"} and cannot be set. Use another key.`,
    );
  }
};

/** Fills the prompt arguments in, on the host, before anything is created. Throws if one is missing. */
export const substituteArguments = (
  { promptFile, template }: UnresolvedPrompt,
  args: PromptArgs,
  builtIns: PromptArgs,
): ResolvedPrompt => {
  checkBuiltIns(args, builtIns);
  const values = new Map(Object.entries({ ...args, ...builtIns }));
  const missing = argumentKeys(template).filter((key) => !values.has(key));
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
