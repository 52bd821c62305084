import { InternalError, InvalidOptionsError, SandduneError } from "../errors.ts";
import { exitCodeOf } from "./exitCodes.ts";
import { flagOf } from "./flagNames.ts";
import { printJson, tell } from "./output.ts";
import { summaryOf } from "./summary.ts";

/** What went wrong, in the words of the command line. */
const messageOf = (error: unknown): string => {
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
export const reportError = async (error: unknown, options: { readonly json: boolean }): Promise<number> => {
  if (options.json) await printJson(forPrograms(error));
  const reached = error instanceof SandduneError ? summaryOf(error) : [];
  await tell([`error: ${messageOf(error)}`, stackOf(error), ...reached].filter((part) => part).join("\n"));
  return exitCodeOf(error);
};
