import { asHostFileError } from "../../boundary/hostFileErrors.ts";
import { isDebugging } from "../../boundary/isDebugging.ts";
import { nextLines, type Reached, reachedLines, warningLines } from "../../display/summary.ts";
import {
  AgentFailedError,
  InternalError,
  InvalidOptionsError,
  MissingPromptArgumentError,
  SandduneError,
} from "../../errors.ts";
import { type Answer, indented, withWork } from "../run/reportResult.ts";
import { debugLines } from "./debug.ts";
import { exitCodeOf } from "./exitCodes.ts";
import { flagOf, inFlags } from "./flagNames.ts";
import { printJson, tell } from "./output.ts";
import { UsageError } from "./usageError.ts";

/** What an agent or a program has said is not sanddune's to change: that is in further lines, and in errors of agents. */
const inWordsOfFlags = (error: Error): string => {
  if (!(error instanceof SandduneError) || error instanceof AgentFailedError) return error.message;
  const [first = "", ...others] = error.message.split("\n");
  return [inFlags(first), ...others].join("\n");
};

/** What went wrong, in the words of the command line. */
export const messageOf = (error: unknown): string => {
  if (error instanceof MissingPromptArgumentError) {
    const flags = error.keys.map((key) => `--prompt-arg ${key}=…`).join(" ");
    return `${error.promptFile} has placeholders without a value: pass ${flags}`;
  }
  if (error instanceof InvalidOptionsError) return `${flagOf(error.option)}: ${inFlags(error.problem)}`;
  if (!(error instanceof Error)) return String(error);
  return inWordsOfFlags(error);
};

/** An unexpected error, whose message may not explain it. */
const isUnforeseen = (error: unknown): boolean =>
  !(error instanceof SandduneError || error instanceof UsageError);

/** The stack, if the user asks for it; a bug is shown with its stack in any case. */
const originLines = (error: unknown): string[] => {
  if (isDebugging() || error instanceof InternalError) return debugLines(error);
  return isUnforeseen(error) ? ["SANDDUNE_DEBUG=1 shows where this comes from."] : [];
};

export const forPrograms = (error: unknown): object => ({
  // An error's own fields: what the run had reached, and what each class adds.
  ...(error instanceof Error ? error : {}),
  name: error instanceof Error ? error.name : "Error",
  message: messageOf(error),
});

/** Tells people on stderr, and programs on stdout, what went wrong. Resolves with the exit code. */
export const reportError = async (thrown: unknown, { json, isShown, cwd }: Answer): Promise<number> => {
  const error = asHostFileError(thrown) ?? thrown;
  if (json) await printJson({ error: forPrograms(error) });
  const reached: Reached = error instanceof SandduneError ? error : {};
  const told = await withWork(reached, cwd);
  const next = nextLines(told, false);
  // A run that has begun has told itself how it ended.
  const lines =
    isShown && reached.runId !== undefined
      ? indented(next)
      : [`error: ${messageOf(error)}`, ...reachedLines(told), ...warningLines(told), ...next];
  if (lines.length > 0) await tell(lines.join("\n"));
  const origin = originLines(error);
  if (origin.length > 0) await tell(origin.join("\n"));
  return exitCodeOf(error);
};
