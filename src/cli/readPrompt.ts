import { text } from "node:stream/consumers";
import type { PromptOption } from "../runOptions.ts";
import { tell } from "./output.ts";
import { UsageError } from "./usageError.ts";

const STANDARD_INPUT = "-";

const readStandardInput = async (): Promise<string> => {
  if (process.stdin.isTTY) await tell("Reading the prompt from the terminal; end it with Ctrl-D.");
  return text(process.stdin);
};

/** The prompt that the command line names. */
export const readPrompt = async (flags: {
  readonly prompt?: string;
  readonly promptFile?: string;
}): Promise<PromptOption> => {
  if (flags.promptFile !== undefined) return { promptFile: flags.promptFile };
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
