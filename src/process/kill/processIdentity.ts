import { hostSystem } from "../host/system.ts";

/**
 * Names a process so that it can be told from any other, now or later: a pid alone is recycled, and means nothing
 * after a reboot, in another pid namespace or on another machine that shares the disk.
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

/** Whether that process is running. What cannot be seen from here (another machine, another namespace) counts as running. */
export const isRunning = (identity: ProcessIdentity): boolean => {
  const self = ownIdentity();
  if (identity.host !== self.host) return true;
  if (identity.bootId !== self.bootId) return false;
  if (identity.pidNamespace !== self.pidNamespace) return true;
  return startTimeOf(identity.pid) === identity.startTime;
};
