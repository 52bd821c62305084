import { readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { linuxSystem } from "../../src/process/host/linux.ts";
import { argvOf, otherProcesses, readProcess } from "../helpers/processes/processes.ts";
import type { Run } from "./run.ts";

/** For processes that were told to end already. */
const GRACE_MS = 2000;
/** For those that are killed. */
const KILL_MS = 10_000;
const PAUSE_MS = 20;

const directoryOf = (pid: number): string => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
};

/** Whether it names the path on its command line, or works in it. */
const uses = (pid: number, path: string): boolean =>
  readProcess(pid, "cmdline").includes(path) || directoryOf(pid).startsWith(path);

export const isUsed = (path: string): boolean => otherProcesses().some((pid) => uses(pid, path));

/** This process, the test runner, all that they were started by, and what the test runner itself needs. */
const isOurs = (pid: number, { owner }: Run): boolean => {
  for (let ancestor = process.pid; ancestor > 1; ancestor = linuxSystem.findProcess(ancestor)?.parent ?? 0)
    if (ancestor === pid) return true;
  return (
    pid === owner.pid ||
    (linuxSystem.findProcess(pid)?.parent === owner.pid &&
      /vitest|esbuild|reaper/.test(readProcess(pid, "cmdline")))
  );
};

const isOfTests = (pid: number, run: Run): boolean => {
  const stat = linuxSystem.findProcess(pid);
  if (stat === undefined || stat.isZombie || isOurs(pid, run)) return false;
  if (readProcess(pid, "environ").includes(`TMPDIR=${run.directory}`)) return true;
  // A person may look into the directory, at a terminal.
  return !stat.hasTerminal && uses(pid, run.directory);
};

const processesOf = (run: Run): number[] => otherProcesses().filter((pid) => isOfTests(pid, run));

const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
};

/** Calls it until it finds nothing, or the time is over. */
const untilNone = async (find: () => number[], timeMs: number): Promise<void> => {
  const end = Date.now() + timeMs;
  while (find().length > 0 && Date.now() < end) await delay(PAUSE_MS);
};

/** Ends the processes that do not end by themselves, also those that they start meanwhile. Tells which. */
export const endProcesses = async (run: Run): Promise<string[]> => {
  const ended = new Map<number, string>();
  await untilNone(() => processesOf(run), GRACE_MS);
  await untilNone(() => {
    const found = processesOf(run);
    for (const pid of found) {
      ended.set(pid, `process ${pid}: ${argvOf(pid).join(" ").slice(0, 200)}`);
      kill(pid);
    }
    return found;
  }, KILL_MS);
  return [...ended.values()];
};
