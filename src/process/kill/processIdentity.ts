import { hostSystem } from "../host/system.ts";

/**
 * Identifies a process for ever: a pid alone is reused, and is meaningless after a reboot, in another pid namespace or on
 * another machine that shares the disk.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** When the process started, in the operating system's own units. */
  readonly startTime: string;
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly host: string;
}

const startTimeOf = (pid: number): string | undefined => {
  const found = hostSystem().findProcess(pid);
  return found === undefined || found.isZombie ? undefined : found.startTime;
};

export const ownIdentity = (): ProcessIdentity => ({
  pid: process.pid,
  startTime: startTimeOf(process.pid) ?? "",
  bootId: hostSystem().bootId(),
  pidNamespace: hostSystem().pidNamespace(),
  host: hostSystem().machineId(),
});

/** Whether that process is running. A process of another machine or pid namespace counts as running. */
export const isRunning = (identity: ProcessIdentity): boolean => {
  const self = ownIdentity();
  if (identity.host !== self.host) return true;
  if (identity.bootId !== self.bootId) return false;
  if (identity.pidNamespace !== self.pidNamespace) return true;
  return startTimeOf(identity.pid) === identity.startTime;
};
