import { stripVTControlCharacters } from "node:util";
import { counted } from "../../tools/counted.ts";
import { shorten } from "../../tools/shorten.ts";
import type { TestResult, TestResults } from "../contract.ts";

/** Enough for the expected and the actual value, and a few lines of a diff. */
const MAX_MESSAGE_LINES = 20;

/** A shorter message is of no use: fewer failures are shown instead. */
const MIN_FAILURE_LENGTH = 300;

/** Reserved for the line that says how many failures are left out. */
const LAST_LINE_LENGTH = 60;

/** How many tests passed, and why some were not run. */
export const verdictOf = ({ passed, total, error }: TestResults): string => {
  const counts = total === 0 ? "No test was run." : `${passed} of ${counted(total, "test")} passed.`;
  return error === null ? counts : `${counts}\n${stripVTControlCharacters(error).trim()}`;
};

/** The path of a failed test and the first lines of its message. */
const failureOf = ({ path, message = "" }: TestResult, maxLength: number): string => {
  const lines = stripVTControlCharacters(message).trim().split(/\r?\n/);
  const shown = lines.slice(0, MAX_MESSAGE_LINES);
  if (shown.length < lines.length) shown.push("…");
  return shorten(`- ${path}: ${shown.join("\n  ") || "failed, and says no more"}`, maxLength);
};

/**
 * Describes results for an agent or a person: how many tests passed, then each failure with the first lines of its message. Never
 * longer than `maxLength`: it says how many failures are left out.
 */
export const describeResults = (results: TestResults, maxLength: number): string => {
  const failures = results.tests.filter(({ passed }) => !passed);
  const parts = [shorten(verdictOf(results), Math.max(maxLength / 2, maxLength - MIN_FAILURE_LENGTH))];
  let room = maxLength - (parts[0]?.length ?? 0) - LAST_LINE_LENGTH;
  for (const [index, failure] of failures.entries()) {
    // Later failures get the room that a short one leaves.
    const share = Math.max(MIN_FAILURE_LENGTH, Math.floor(room / (failures.length - index)));
    const shown = failureOf(failure, share - 1);
    if (shown.length + 1 > room) break;
    parts.push(shown);
    room -= shown.length + 1;
  }
  const leftOut = Math.max(results.failed, failures.length) - (parts.length - 1);
  if (leftOut > 0) parts.push(`And ${leftOut} more failures, which are left out here.`);
  return shorten(parts.join("\n"), maxLength);
};
