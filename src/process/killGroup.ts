import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { readProcessStat } from "./processIdentity.ts";

const POLL_MS = 10;

/** A process that has ended but was not collected by its parent still answers signals: only its state tells. */
const hasLivingMember = (groupId: number): boolean => {
  try {
    return readdirSync("/proc").some((name) => {
      if (!/^\d+$/.test(name)) return false;
      const stat = readProcessStat(Number(name));
      return stat !== undefined && stat.group === groupId && stat.state !== "Z" && stat.state !== "X";
    });
  } catch {
    // Too many open files, say: what cannot be seen counts as alive.
    return true;
  }
};

const groupIsAlive = (groupId: number): boolean => {
  try {
    process.kill(-groupId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return process.platform === "linux" ? hasLivingMember(groupId) : true;
};

const sendToGroup = (groupId: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-groupId, signal);
  } catch {
    // The group is gone already, which is what was wanted.
  }
};

const waitUntilGone = async (groupId: number, timeoutMs: number): Promise<boolean> => {
  const deadline = performance.now() + timeoutMs;
  while (groupIsAlive(groupId)) {
    if (performance.now() >= deadline) return false;
    await delay(POLL_MS);
  }
  return true;
};

/**
 * Ends every process of a group: SIGTERM, then SIGKILL for what is left after `graceMs`.
 * Resolves with whether the kernel confirmed that nothing of the group is left.
 */
export const killGroup = async (groupId: number, graceMs: number): Promise<boolean> => {
  sendToGroup(groupId, "SIGTERM");
  if (await waitUntilGone(groupId, graceMs)) return true;
  sendToGroup(groupId, "SIGKILL");
  return waitUntilGone(groupId, 2000);
};
