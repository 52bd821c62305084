import { spawnSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { findProgram, hostPath } from "./hostPrograms.ts";

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

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
};

export interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly hasTerminal: boolean;
  readonly startTime: string;
  /** Kernel threads have none, nor have processes that have ended. */
  readonly hasMemory: boolean;
}

/** What Linux says about a process, or `undefined` if there is none. */
export const readProcessStat = (pid: number): ProcessStat | undefined => {
  const stat = read(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses, and may hold anything; the fields after it are well defined.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (
    fields && {
      state: fields[0] ?? "",
      parent: Number(fields[1]),
      group: Number(fields[2]),
      hasTerminal: fields[4] !== "0",
      startTime: fields[19] ?? "",
      hasMemory: fields[20] !== "0",
    }
  );
};

const startTimeOf = (pid: number): string | undefined => {
  if (process.platform === "linux") {
    const stat = readProcessStat(pid);
    return stat === undefined || stat.state === "Z" ? undefined : stat.startTime;
  }
  const ps = spawnSync(findProgram("ps"), ["-o", "lstart=", "-p", String(pid)], {
    encoding: "utf8",
    env: { LC_ALL: "C", PATH: hostPath() },
  });
  return ps.status === 0 ? ps.stdout.trim() : undefined;
};

const pidNamespace = (): string => {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
};

export const ownIdentity = (): ProcessIdentity => ({
  pid: process.pid,
  startTime: startTimeOf(process.pid) ?? "",
  bootId: read("/proc/sys/kernel/random/boot_id") ?? "",
  pidNamespace: pidNamespace(),
  host: hostname(),
});

/** Whether that process is running. What cannot be seen from here (another machine, another namespace) counts as running. */
export const isRunning = (identity: ProcessIdentity): boolean => {
  const self = ownIdentity();
  if (identity.host !== self.host) return true;
  if (identity.bootId !== self.bootId) return false;
  if (identity.pidNamespace !== self.pidNamespace) return true;
  return startTimeOf(identity.pid) === identity.startTime;
};
