import { inTime, TimeLimitError } from "../tools/wait/timeLimit.ts";
import { attempt, type Finding, failed } from "./finding.ts";

/** All checks have their own limits; this one is for a file system or an engine that hangs. */
const CHECK_LIMIT_MS = 60_000;

/** Runs a check within a limit. `fix` is for problems without a better one. */
export const within = async (
  title: string,
  fix: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> => {
  const detail = `the check did not finish within ${CHECK_LIMIT_MS / 1000} s`;
  try {
    return await inTime(() => attempt(title, fix, check), { timeoutMs: CHECK_LIMIT_MS });
  } catch (error) {
    if (error instanceof TimeLimitError) return [failed(title, detail, fix)];
    throw error;
  }
};
