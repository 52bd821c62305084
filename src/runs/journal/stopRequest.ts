import { existsSync, unwatchFile, watchFile, writeFileSync } from "node:fs";
import { ownIdentity } from "../../process/kill/processIdentity.ts";
import { hasCode } from "../../tools/files/hasCode.ts";
import { stopRequestPath } from "./runDirectory.ts";
import type { Journal } from "./writeJournal.ts";

/** Polled: that works on every file system, and never runs out of watches. */
const POLL_MS = 250;

/** Asks the process of a run to stop it. */
export const requestStop = (runDirectory: string): void => {
  try {
    writeFileSync(
      stopRequestPath(runDirectory),
      `${JSON.stringify({ at: new Date().toISOString(), by: ownIdentity().pid })}\n`,
      { flag: "wx" },
    );
  } catch (error) {
    // Another process has asked before.
    if (!hasCode(error, "EEXIST")) throw error;
  }
};

/** Calls `stop` once when the session is asked to stop. Returns a function that ends the polling. */
export const onStopRequest = ({ runDirectory }: Journal, stop: () => void): (() => void) => {
  const path = stopRequestPath(runDirectory);
  const look = (): void => {
    if (!existsSync(path)) return;
    unwatchFile(path, look);
    stop();
  };
  watchFile(path, { interval: POLL_MS, persistent: false }, look);
  // Watching reports changes only: a request from before is found here.
  const first = setImmediate(look);
  return () => {
    clearImmediate(first);
    unwatchFile(path, look);
  };
};
