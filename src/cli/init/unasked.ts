import { UsageError } from "../shared/usageError.ts";
import type { Ask, Question } from "./flags.ts";

const placeholder = ({ choices, byDefault, example }: Question): string =>
  choices === undefined ? `… (e.g. ${example ?? byDefault})` : Object.keys(choices).join("|");

/** Answers with defaults if these are wanted. The `UsageError` of `check()` names all other questions. */
export const withoutAsking = (takesDefaults: boolean): { readonly ask: Ask; readonly check: () => void } => {
  const missing: Question[] = [];
  return {
    ask: async (question) => {
      if (!takesDefaults || question.byDefault === undefined) missing.push(question);
      // Any answer, so that the questions after it are found, too.
      return question.byDefault ?? question.example ?? "";
    },
    check: () => {
      if (missing.length === 0) return;
      const flags = missing.map((question) => `  ${question.flag} ${placeholder(question)}`).join("\n");
      throw new UsageError(
        `Questions need a terminal. Pass these flags instead:\n${flags}${takesDefaults ? "" : "\nOr use the defaults: --yes"}`,
      );
    },
  };
};
