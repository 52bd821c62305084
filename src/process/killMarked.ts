import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isInside } from "./isInside.ts";
import { readProcessStat } from "./processIdentity.ts";

/** By what processes are known that somebody has left behind. */
export interface ProcessMark {
  /** In their environment. */
  readonly name: string;
  readonly value: string;
  /** That nobody else has any business in: whoever works there counts, unless it is a person at a terminal. */
  readonly directory?: string;
}

const carries = (pid: string, { name, value }: ProcessMark): boolean =>
  readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`${name}=${value}`);

/** Some daemons clear their environment. */
const worksIn = (pid: string, directory: string | undefined): boolean =>
  directory !== undefined &&
  isInside(directory, readlinkSync(`/proc/${pid}/cwd`)) &&
  readProcessStat(Number(pid))?.hasTerminal === false;

const isMarked = (pid: string, mark: ProcessMark): boolean => {
  try {
    return carries(pid, mark) || worksIn(pid, mark.directory);
  } catch {
    // Gone, or somebody else's.
    return false;
  }
};

const kill = (pid: string): void => {
  try {
    process.kill(Number(pid), "SIGKILL");
  } catch {
    // It is gone already.
  }
};

/** The processes of the host that are marked. Linux only. */
export const findMarked = (mark: ProcessMark): string[] =>
  readdirSync("/proc").filter((entry) => /^\d+$/.test(entry) && isMarked(entry, mark));

/** As often as a process can have had a child just before it was killed. */
const MAX_SWEEPS = 40;

/**
 * Kills every process of the host that is marked, wherever it has gone: a daemon leaves its group and its session. One
 * that hides on purpose, by clearing its environment and going elsewhere, is not found. Linux only.
 */
export const killMarked = (mark: ProcessMark): void => {
  if (process.platform !== "linux") return;
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    const found = findMarked(mark);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
};
