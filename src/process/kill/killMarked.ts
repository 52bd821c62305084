import { setTimeout as delay } from "node:timers/promises";
import { hostSystem } from "../host/system.ts";
import { descendantsOf } from "./killDescendants.ts";

const YOUNG_SECONDS = 5;

/** Identifies the processes that a command has left. */
export interface ProcessMark {
  /** An env var of the processes. */
  readonly name: string;
  readonly value: string;
  /** A directory for marked processes only: any process with this working directory counts, unless it has a terminal. */
  readonly directory?: string;
}

/** Some daemons clear their environment. */
const workersIn = (directory: string | undefined): number[] => {
  if (directory === undefined) return [];
  const system = hostSystem();
  return system.findInDirectory(directory).filter((pid) => system.findProcess(pid)?.hasTerminal === false);
};

/** A process without an environment that started long ago has cleared it; a kernel thread never had one. */
const mayBeInExec = (pid: number): boolean => {
  const found = hostSystem().findProcess(pid);
  return found?.hasMemory === true && hostSystem().ageSeconds(found) < YOUNG_SECONDS;
};

const sweep = ({
  name,
  value,
  directory,
}: ProcessMark): { readonly marked: number[]; isInDoubt(): boolean } => {
  const { carriers, blank } = hostSystem().findByVariable(name, value);
  const marked = [...new Set([...carriers, ...workersIn(directory)])];
  return { marked, isInDoubt: () => blank.some((pid) => !marked.includes(pid) && mayBeInExec(pid)) };
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
};

/** The marked processes of the host. */
export const findMarked = (mark: ProcessMark): number[] => sweep(mark).marked;

/** A process can start a child just before it is killed, so it takes several sweeps. */
const MAX_SWEEPS = 60;
/** A process that started after the listing is not in the list, and its parent may be gone already. */
const CALM_SWEEPS = 2;
const DOUBTFUL_SWEEPS = 25;
const DOUBT_MS = 10;

/** Kills, and repeats until nothing is left. Yields a pause if another sweep may find more. */
function* sweeps(mark: ProcessMark): Generator<number, void> {
  let calm = 0;
  for (let count = 0; count < MAX_SWEEPS; count++) {
    const { marked, isInDoubt } = sweep(mark);
    if (marked.length > 0) {
      // Listed while their parents live: unmarked descendants can only be found through their parents.
      for (const pid of [...marked, ...descendantsOf(marked).map(({ pid }) => pid)]) kill(pid);
      calm = 0;
      continue;
    }
    calm++;
    const doubtful = isInDoubt();
    if (calm >= (doubtful ? DOUBTFUL_SWEEPS : CALM_SWEEPS)) return;
    if (doubtful) yield DOUBT_MS;
  }
}

/**
 * Kills every marked process of the host with its descendants, even one that has left its group and session, as a daemon
 * does. A process that clears its environment and leaves its parent is not found. Never rejects.
 */
export const killMarked = async (mark: ProcessMark): Promise<void> => {
  try {
    for (const pauseMs of sweeps(mark)) await delay(pauseMs);
  } catch {
    // They cannot be listed, for example because of too many open files. The session must end anyway.
  }
};

const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** The same synchronously, for a process that is about to end. Never throws. */
export const killMarkedNow = (mark: ProcessMark): void => {
  try {
    for (const pauseMs of sweeps(mark)) block(pauseMs);
  } catch {
    // As above.
  }
};
