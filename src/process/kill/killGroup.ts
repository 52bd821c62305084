import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../../tools/files/hasCode.ts";
import { hostSystem } from "../host/system.ts";

const POLL_MS = 10;

/** A zombie still accepts signals: only its state shows that it has ended. */
const hasLivingMember = (groupId: number): boolean => {
  try {
    return hostSystem()
      .processes()
      .some(({ group, isZombie }) => group === groupId && !isZombie);
  } catch {
    // They cannot be listed, for example because of too many open files: the group counts as alive.
    return true;
  }
};

const groupIsAlive = (groupId: number): boolean => {
  try {
    process.kill(-groupId, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
  return hasLivingMember(groupId);
};

const sendToGroup = (groupId: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-groupId, signal);
  } catch {
    // The group is gone already.
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

/** SIGTERM, then SIGKILL after `graceMs`. Resolves with whether the kernel confirmed that all are gone. */
export const killGroup = async (groupId: number, graceMs: number): Promise<boolean> => {
  sendToGroup(groupId, "SIGTERM");
  if (await waitUntilGone(groupId, graceMs)) return true;
  sendToGroup(groupId, "SIGKILL");
  return waitUntilGone(groupId, 2000);
};
