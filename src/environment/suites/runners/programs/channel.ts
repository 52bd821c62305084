import { writeSync } from "node:fs";
import type { RunnerEvent } from "../runnerReport.ts";

/** Limits the error of a test, and the output of a file that failed as a whole. */
export const MAX_CHARACTERS = 64 * 1024;

/** Names the runner's process. The guard watches the processes that the runner starts, and not those that tests start. */
export const RUNNER_VARIABLE = "SANDDUNE_TEST_RUNNER";

/** Sends an event to sanddune, over file descriptor 3. */
export const report = (...event: RunnerEvent): void => {
  const bytes = Buffer.from(`${JSON.stringify(event)}\n`);
  for (let start = 0; start < bytes.length; ) start += writeSync(3, bytes, start);
};
