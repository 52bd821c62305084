import { text } from "node:stream/consumers";
import type { PromptArgs } from "../index.ts";
import type { PromptOption } from "../runOptions.ts";
import { tell } from "./output.ts";
import { UsageError } from "./usageError.ts";

const STANDARD_INPUT = "-";

const readStandardInput = async (): Promise<string> => {
  if (process.stdin.isTTY) await tell("Reading the prompt from the terminal; end it with Ctrl-D.");
  return text(process.stdin);
};

const promptArgsOf = (assignments: readonly string[]): PromptArgs =>
  Object.fromEntries(
    assignments.map((assignment) => {
      const [, key, value] = /^([^=]+)=([\s\S]*)$/.exec(assignment) ?? [];
      if (key === undefined || value === undefined) {
        throw new UsageError(`--prompt-arg ${JSON.stringify(assignment)}: write KEY=VALUE`);
      }
      return [key, value];
    }),
  );

/** The prompt that the command line names. */
export const readPrompt = async (flags: {
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly promptArg?: readonly string[];
}): Promise<PromptOption> => {
  const promptArgs = promptArgsOf(flags.promptArg ?? []);
  if (flags.promptFile !== undefined) return { promptFile: flags.promptFile, promptArgs };
  if (flags.promptArg !== undefined) {
    throw new UsageError("--prompt-arg fills in the {{KEY}} of a template, so it needs --prompt-file FILE");
  }
  if (flags.prompt === undefined) {
    throw new UsageError(
      "There is no prompt. Pass it with --prompt TEXT or --prompt-file FILE, or on standard input with --prompt -",
    );
  }
  const isPiped = flags.prompt === STANDARD_INPUT;
  const prompt = isPiped ? await readStandardInput() : flags.prompt;
  if (prompt.trim() === "") {
    // Most often a variable that is not set, or a command that failed, at the other end of the pipe.
    throw new UsageError(isPiped ? "--prompt -: standard input was empty" : "--prompt: the prompt is empty");
  }
  return { prompt };
};
