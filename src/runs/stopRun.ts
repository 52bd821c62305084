import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { RunNotStoppedError } from "../errors/commandErrors.ts";
import { ownIdentity, type ProcessIdentity } from "../process/kill/processIdentity.ts";
import { stopRequestPath } from "./journal/writeJournal.ts";
import { type RunRecord, readRun } from "./recordedRun.ts";

const LOOK_EVERY_MS = 100;

/** Bringing commits home and closing a sandbox takes seconds; a process that does not react by then never will. */
const STOP_TIMEOUT_MS = 60_000;

const isHere = ({ host, pidNamespace }: ProcessIdentity): boolean => {
  const own = ownIdentity();
  return host === own.host && pidNamespace === own.pidNamespace;
};

const request = (runDirectory: string): void => {
  try {
    writeFileSync(
      stopRequestPath(runDirectory),
      `${JSON.stringify({ at: new Date().toISOString(), by: ownIdentity().pid })}\n`,
      { flag: "wx" },
    );
  } catch (error) {
    // Somebody else has asked already.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
};

/**
 * Asks a run to stop, as an abort would, and waits until it has brought its work home. The process that it runs in, and
 * whatever else that does, goes on. Resolves with the run as it is then; one that was not running is left alone.
 */
export const stopRun = async (run: RunRecord): Promise<RunRecord> => {
  if (run.state !== "running") return run;
  request(run.runDirectory);
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  for (;;) {
    const now = readRun(run.runDirectory) ?? run;
    if (now.state !== "running") return now;
    if (performance.now() > deadline) {
      throw new RunNotStoppedError(run.runId, run.owner, STOP_TIMEOUT_MS, isHere(run.owner));
    }
    await delay(LOOK_EVERY_MS);
  }
};
