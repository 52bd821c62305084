import { type Reached, reachedLines, warningLines } from "../display/summary.ts";
import { InternalError, InvalidOptionsError, MissingPromptArgumentError, SandduneError } from "../errors.ts";
import { exitCodeOf } from "./exitCodes.ts";
import { flagOf } from "./flagNames.ts";
import { printJson, tell } from "./output.ts";
import type { Answer } from "./reportResult.ts";

/** What went wrong, in the words of the command line. */
const messageOf = (error: unknown): string => {
  if (error instanceof MissingPromptArgumentError) {
    const flags = error.keys.map((key) => `--prompt-arg ${key}=…`).join(" ");
    return `${error.promptFile} has placeholders without a value: pass ${flags}`;
  }
  if (error instanceof InvalidOptionsError) return `${flagOf(error.option)}: ${error.problem}`;
  return error instanceof Error ? error.message : String(error);
};

/** Only a bug is worth a stack: everything else explains itself. */
const stackOf = (error: unknown): string | undefined => {
  if (error instanceof InternalError) return error.cause instanceof Error ? error.cause.stack : error.stack;
  return undefined;
};

const forPrograms = (error: unknown): object => ({
  error: {
    // An error's own fields: what the run had reached, and what each class adds.
    ...(error instanceof Error ? error : {}),
    name: error instanceof Error ? error.name : "Error",
    message: messageOf(error),
  },
});

/** Tells people on stderr, and programs on stdout, what went wrong. Resolves with the exit code. */
export const reportError = async (error: unknown, { json, isShown }: Answer): Promise<number> => {
  if (json) await printJson(forPrograms(error));
  const reached: Reached = error instanceof SandduneError ? error : {};
  // A run that has begun has told itself how it ended.
  if (!isShown || reached.runId === undefined) {
    const lines = [
      `error: ${messageOf(error)}`,
      stackOf(error),
      ...reachedLines(reached),
      ...warningLines(reached),
    ];
    await tell(lines.filter((line) => line).join("\n"));
  }
  return exitCodeOf(error);
};
