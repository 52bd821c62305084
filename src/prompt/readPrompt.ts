import { realpathSync } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InvalidOptionsError } from "../errors.ts";
import { PRIVATE_PARTS } from "../options/configDirectory.ts";
import { isInside } from "../tools/isInside.ts";
import { parseTemplate } from "./promptTemplate.ts";
import type { UnresolvedPrompt } from "./resolvePrompt.ts";

export interface PromptSource {
  readonly prompt?: string | undefined;
  readonly promptFile?: string | undefined;
}

/** The repository that may contain the prompt file. */
export interface PromptPlace {
  readonly topLevel: string;
  readonly configDirectory: string;
}

/** Far above the limit of any agent. */
const MAX_TEMPLATE_BYTES = 16 * 1024 * 1024;

/**
 * The reason to refuse a prompt file. An agent could commit a link that turns any host file into a prompt, so a
 * prompt file in the repository must not be a link to a path outside it or to sanddune's own files.
 */
const problemOf = async (
  path: string,
  { topLevel, configDirectory }: PromptPlace,
): Promise<string | undefined> => {
  const status = await stat(path);
  if (!status.isFile()) return "is not a file";
  if (status.size > MAX_TEMPLATE_BYTES) return `is larger than ${MAX_TEMPLATE_BYTES} bytes`;
  const target = await realpath(path);
  const isPrivate = PRIVATE_PARTS.some((part) => isInside(join(configDirectory, part), target));
  if (isPrivate) return "belongs to sanddune";
  return isInside(topLevel, path) && !isInside(topLevel, target)
    ? `leads out of the repository to ${target}`
    : undefined;
};

/** Reads the prompt. An inline prompt is plain text: nothing in it is interpreted. */
export const readPrompt = async (
  { prompt, promptFile }: PromptSource,
  place: PromptPlace,
  signal: AbortSignal,
): Promise<UnresolvedPrompt> => {
  if (promptFile === undefined) {
    return { promptFile: undefined, template: [{ type: "text", text: prompt ?? "" }] };
  }
  const path = resolve(realpathSync("."), promptFile);
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
