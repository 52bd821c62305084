import { existsSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { EnvironmentStartError } from "../../errors.ts";
import { type Dependent, startDependent } from "../../process/dependent.ts";
import { shorten } from "../../tools/shorten.ts";
import { orAborted } from "../../tools/wait/onAbort.ts";
import { withTimeLimit } from "../../tools/wait/timeLimit.ts";
import { SETUP_FILE } from "../folder/setupFile.ts";
import type { TestPlace } from "../worker/messages.ts";
import { environmentOf } from "./envVars.ts";

/** Installing packages takes a while. */
const SETUP_TIMEOUT_MS = 15 * 60_000;
const GRACE_MS = 1000;
const MAX_LINE_LENGTH = 300;
/** Between two lines that are reported as progress: the log has all lines. */
const PROGRESS_MS = 200;

/** Reports some of the lines that the script prints. */
const sampled = (report: (sentence: string) => void): ((line: string) => void) => {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (line) => {
    const text = stripVTControlCharacters(line).trim();
    if (text === "" || performance.now() - lastAt < PROGRESS_MS) return;
    lastAt = performance.now();
    report(`${SETUP_FILE}: ${shorten(text, MAX_LINE_LENGTH)}`);
  };
};

/**
 * Runs the set-up script of an environment, if it has one. Its background processes continue until the result is ended. Rejects
 * with an `EnvironmentStartError`, or with `signal.reason`.
 */
export const runSetupScript = async (
  place: TestPlace,
  onProgress: (sentence: string) => void,
  signal: AbortSignal | undefined,
): Promise<Pick<Dependent, "end"> | undefined> => {
  if (!existsSync(join(place.directory, SETUP_FILE))) return undefined;
  signal?.throwIfAborted();
  onProgress(`Running ${SETUP_FILE}`);
  const script = startDependent({
    program: "sh",
    args: [SETUP_FILE],
    cwd: place.directory,
    env: environmentOf(place),
    graceMs: GRACE_MS,
    onOutputLine: sampled(onProgress),
  });
  const failed = (problem: string) => new EnvironmentStartError(`${SETUP_FILE} ${problem}`, script.output());
  try {
    const exitCode = await withTimeLimit(SETUP_TIMEOUT_MS, signal, (either) =>
      orAborted(script.exited, either),
    );
    if (exitCode !== 0) throw failed(`ended with exit code ${exitCode}`);
    return script;
  } catch (reason) {
    const log = script.output();
    await script.end();
    signal?.throwIfAborted();
    throw reason instanceof EnvironmentStartError
      ? reason
      : new EnvironmentStartError(`${SETUP_FILE} took longer than ${SETUP_TIMEOUT_MS} ms`, log, {
          cause: reason,
        });
  }
};
