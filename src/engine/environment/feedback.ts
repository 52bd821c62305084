import { allPassed, type TestResults } from "../../environment/contract.ts";
import { describeResults } from "../../environment/results/describeResults.ts";

/** Enough for dozens of failures, and short compared to a prompt. */
const MAX_LENGTH = 8000;

const ON_COMMIT =
  "They ran on your last commit, in a clean checkout: uncommitted and ignored files were not tested.";

/** The prompt of an iteration, with the failed tests of the previous one, if there are any. */
export const withFeedback = (prompt: string, last: TestResults | undefined): string =>
  last === undefined || allPassed(last)
    ? prompt
    : `${prompt}\n\nThe tests ran after your last turn. ${ON_COMMIT} ${describeResults(last, MAX_LENGTH)}\n`;
