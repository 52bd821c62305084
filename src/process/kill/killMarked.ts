import { setTimeout as delay } from "node:timers/promises";
import { hostSystem } from "../host/system.ts";
import { descendantsOf } from "./killDescendants.ts";

const YOUNG_SECONDS = 5;

/** How processes are recognised that a command has left behind. */
export interface ProcessMark {
  /** In their environment. */
  readonly name: string;
  readonly value: string;
  /** A directory for marked processes only: any process that works there counts, unless it has a terminal. */
  readonly directory?: string;
}

/** Some daemons clear their environment. */
const workersIn = (directory: string | undefined): number[] => {
  if (directory === undefined) return [];
  const system = hostSystem();
  return system.findInDirectory(directory).filter((pid) => system.findProcess(pid)?.hasTerminal === false);
};

/** A process that began long ago has cleared its environment; a kernel thread never had one. */
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

/** The processes of the host that are marked. */
export const findMarked = (mark: ProcessMark): number[] => sweep(mark).marked;

/** As often as a process can have had a child just before it was killed. */
const MAX_SWEEPS = 60;
/** A process that was born after the processes were listed is not in the list, and its parent may be gone already. */
const CALM_SWEEPS = 2;
const DOUBTFUL_SWEEPS = 25;
const DOUBT_MS = 10;

/** Kills, and looks again until nothing is left. Yields how long to pause where another look may find more. */
function* sweeps(mark: ProcessMark): Generator<number, void> {
  let calm = 0;
  for (let count = 0; count < MAX_SWEEPS; count++) {
    const { marked, isInDoubt } = sweep(mark);
    if (marked.length > 0) {
      // Listed while their parents live: that some of them carry no mark is visible only from their parents.
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
 * Kills every process of the host that is marked, with its descendants, even one that has left its group and its session, as
 * a daemon does. One that hides on purpose, by clearing its environment and leaving its parent, is not found. Never rejects.
 */
export const killMarked = async (mark: ProcessMark): Promise<void> => {
  try {
    for (const pauseMs of sweeps(mark)) await delay(pauseMs);
  } catch {
    // Too many open files, say: the processes cannot be listed. The session must end all the same.
  }
};

const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** The same for where nothing can be awaited: this process is about to end, for instance. Never throws. */
export const killMarkedNow = (mark: ProcessMark): void => {
  try {
    for (const pauseMs of sweeps(mark)) block(pauseMs);
  } catch {
    // As above.
  }
};
