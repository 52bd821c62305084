import { InvalidOptionsError } from "../../errors.ts";
import type { ResolvedPrompt } from "../../prompt/resolvePrompt.ts";
import { shellQuote } from "../../tools/shellQuote.ts";

/** The prompt is an argument. Linux limits one, with the shell code around it, to 128 KiB. */
const MAX_BYTES = 100 * 1024;

const problemOf = (prompt: string): InvalidOptionsError | undefined => {
  const bytes = Buffer.byteLength(shellQuote(prompt));
  return bytes <= MAX_BYTES
    ? undefined
    : new InvalidOptionsError(
        "prompt",
        `${Math.ceil(bytes / 1024)} KiB are too long for the prompt of an interactive session: the agent takes at most ${MAX_BYTES / 1024} KiB as an argument. Put the text into a file in the repository, and name that file in the prompt.`,
      );
};

/** The error for a prompt that is too long. Shell expressions in a template count as empty before they have run. */
export const promptSizeProblem = (prompt: string | ResolvedPrompt): InvalidOptionsError | undefined =>
  problemOf(
    typeof prompt === "string"
      ? prompt
      : prompt.parts.map((part) => (typeof part === "string" ? part : "")).join(""),
  );
