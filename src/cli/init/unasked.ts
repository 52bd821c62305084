import { UsageError } from "../shared/usageError.ts";
import type { Ask, Question } from "./flags.ts";

const placeholder = ({ choices, byDefault, example }: Question): string =>
  choices === undefined ? `… (e.g. ${example ?? byDefault})` : Object.keys(choices).join("|");

/**
 * Answers questions where nobody can be asked: with their defaults, if these are wanted. All that are left are named at
 * once, in the `UsageError` of `check()`.
 */
export const withoutAsking = (takesDefaults: boolean): { readonly ask: Ask; readonly check: () => void } => {
  const missing: Question[] = [];
  return {
    ask: async (question) => {
      if (!takesDefaults || question.byDefault === undefined) missing.push(question);
      // Something to go on with, so that the questions that follow are found, too.
      return question.byDefault ?? question.example ?? "";
    },
    check: () => {
      if (missing.length === 0) return;
      const flags = missing.map((question) => `  ${question.flag} ${placeholder(question)}`).join("\n");
      throw new UsageError(
        `Nothing is asked here, so these flags are missing:\n${flags}${takesDefaults ? "" : "\nOr take what most people take: --yes"}`,
      );
    },
  };
};
