import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Waits for a condition; gives up, loudly, after `limitMs`. */
export const waitFor = async (
  condition: () => boolean | Promise<boolean>,
  limitMs = 20_000,
): Promise<void> => {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms for: ${condition}`);
    await delay(10);
  }
};

/** Whether the process runs; one that has ended but was not collected by its parent does not. */
export const processIsAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
};
