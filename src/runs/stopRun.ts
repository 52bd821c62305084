import { setTimeout as delay } from "node:timers/promises";
import { RunNotStoppedError } from "../errors/commandErrors.ts";
import { ownIdentity, type ProcessIdentity } from "../process/kill/processIdentity.ts";
import { requestStop } from "./journal/stopRequest.ts";
import { readRun, type StoredRun } from "./storedRun.ts";

const POLL_MS = 100;

/** Importing commits and closing a sandbox takes seconds: a process that has not reacted by then never will. */
const STOP_TIMEOUT_MS = 60_000;

const isHere = ({ host, pidNamespace }: ProcessIdentity): boolean => {
  const own = ownIdentity();
  return host === own.host && pidNamespace === own.pidNamespace;
};

/**
 * Asks a run to stop, as an abort would, and waits until it has imported its work. Its process continues with anything
 * else that it does. Resolves with the stopped run; a run that is not running is returned as it is.
 */
export const stopRun = async (run: StoredRun): Promise<StoredRun> => {
  if (run.state !== "running") return run;
  requestStop(run.runDirectory);
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  for (;;) {
    const now = readRun(run.runDirectory) ?? run;
    if (now.state !== "running") return now;
    if (performance.now() > deadline) {
      throw new RunNotStoppedError(run.runId, run.owner, STOP_TIMEOUT_MS, isHere(run.owner));
    }
    await delay(POLL_MS);
  }
};
