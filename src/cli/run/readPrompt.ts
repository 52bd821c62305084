import { existsSync } from "node:fs";
import { join } from "node:path";
import type { PromptArgs } from "../../index.ts";
import type { PromptOption } from "../../options/runOptions.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { tell } from "../shared/output.ts";
import { UsageError } from "../shared/usageError.ts";

const STANDARD_INPUT = "-";

const readStandardInput = async (): Promise<string> => {
  if (process.stdin.isTTY) await tell("Reading the prompt from the terminal. End it with Ctrl-D.");
  const { text } = await import("node:stream/consumers");
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

/** The prompt template that `sanddune init` writes for one run. */
export const PROMPT_FILE = "prompt.md";

/** The prompt of the command line, or else `prompt.md` of the config directory, if it exists. */
export const readPrompt = async (
  flags: {
    readonly prompt?: string;
    readonly promptFile?: string;
    readonly promptArg?: readonly string[];
  },
  configDirectory?: string,
): Promise<PromptOption> => {
  const promptArgs = promptArgsOf(flags.promptArg ?? []);
  const byDefault = configDirectory && join(configDirectory, PROMPT_FILE);
  const isDefault = flags.prompt === undefined && byDefault !== undefined && existsSync(byDefault);
  const promptFile = flags.promptFile ?? (isDefault ? byDefault : undefined);
  if (promptFile !== undefined) return { promptFile, promptArgs };
  if (flags.promptArg !== undefined) {
    throw new UsageError("--prompt-arg sets a {{KEY}} of a template, so it needs --prompt-file FILE");
  }
  if (flags.prompt === undefined) {
    throw new UsageError(
      `There is no prompt. Write it after the command, or pass --prompt-file FILE:\n  ${sandduneCommand("run", "Fix issue 42")}`,
    );
  }
  const isPiped = flags.prompt === STANDARD_INPUT;
  const prompt = isPiped ? await readStandardInput() : flags.prompt;
  if (prompt.trim() === "") {
    // Usually a variable that is not set, or a failed command at the other end of the pipe.
    throw new UsageError(isPiped ? "Standard input was empty: there is no prompt" : "The prompt is empty");
  }
  return { prompt };
};
