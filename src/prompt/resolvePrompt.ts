import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { InvalidOptionsError } from "../errors.ts";

export interface PromptSource {
  /** The prompt itself, handed to the agent as it is. */
  readonly prompt?: string | undefined;
  /** A file that holds the prompt; relative to `process.cwd()`. */
  readonly promptFile?: string | undefined;
}

/** The text that the agent gets. */
export const resolvePrompt = async ({ prompt, promptFile }: PromptSource): Promise<string> => {
  if (prompt !== undefined) return prompt;
  const path = resolve(promptFile ?? "");
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new InvalidOptionsError(
      "promptFile",
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
};
