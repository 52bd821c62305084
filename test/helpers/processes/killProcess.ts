import { hasCode } from "../../../src/tools/files/hasCode.ts";

/**
 * Sends a signal to one process. An empty text, or the pid of a process that is not there, must not become the number 0:
 * that is our own process group.
 */
export const killProcess = (pid: string | number | undefined, signal: NodeJS.Signals = "SIGKILL"): void => {
  const number = Number(pid);
  if (!Number.isInteger(number) || number < 2)
    throw new Error(`${JSON.stringify(pid)} is no process to kill`);
  process.kill(number, signal);
};

/** The same for a process that may end by itself at any moment. */
export const killIfAlive = (pid: number | string): void => {
  try {
    killProcess(pid);
  } catch (error) {
    if (!hasCode(error, "ESRCH")) throw error;
  }
};
