import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isInside } from "./isInside.ts";
import { readProcessStat } from "./processIdentity.ts";

const YOUNG_SECONDS = 5;
const TICKS_PER_SECOND = 100;

const secondsSince = (startTime: string): number =>
  Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) - Number(startTime) / TICKS_PER_SECOND;

/** By what processes are known that somebody has left behind. */
export interface ProcessMark {
  /** In their environment. */
  readonly name: string;
  readonly value: string;
  /** That nobody else has any business in: whoever works there counts, unless it is a person at a terminal. */
  readonly directory?: string;
}

type Sight = "marked" | "unmarked" | "without environment";

/** In the middle of an exec, a process has no environment. */
const lookAt = (pid: string, { name, value }: ProcessMark): Sight => {
  const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
  if (environment === "") return "without environment";
  return environment.split("\0").includes(`${name}=${value}`) ? "marked" : "unmarked";
};

/** Some daemons clear their environment. */
const worksIn = (pid: string, directory: string | undefined): boolean =>
  directory !== undefined &&
  isInside(directory, readlinkSync(`/proc/${pid}/cwd`)) &&
  readProcessStat(Number(pid))?.hasTerminal === false;

/** A process that began long ago has cleared its environment; a kernel thread never had one. */
const mayBeInExec = (pid: string): boolean => {
  const stat = readProcessStat(Number(pid));
  if (!stat?.hasMemory) return false;
  return secondsSince(stat.startTime) < YOUNG_SECONDS;
};

const judge = (pid: string, mark: ProcessMark): "marked" | "unmarked" | "in doubt" => {
  try {
    const sight = lookAt(pid, mark);
    if (sight === "marked" || worksIn(pid, mark.directory)) return "marked";
    return sight === "without environment" && mayBeInExec(pid) ? "in doubt" : "unmarked";
  } catch {
    // Gone, or somebody else's.
    return "unmarked";
  }
};

const sweep = (mark: ProcessMark): { readonly marked: string[]; readonly isInDoubt: boolean } => {
  const marked: string[] = [];
  let isInDoubt = false;
  for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const verdict = judge(pid, mark);
    if (verdict === "marked") marked.push(pid);
    else if (verdict === "in doubt") isInDoubt = true;
  }
  return { marked, isInDoubt };
};

const kill = (pid: string): void => {
  try {
    process.kill(Number(pid), "SIGKILL");
  } catch {
    // It is gone already.
  }
};

/** The processes of the host that are marked. Linux only. */
export const findMarked = (mark: ProcessMark): string[] => sweep(mark).marked;

/** As often as a process can have had a child just before it was killed. */
const MAX_SWEEPS = 60;
/** A process that was born after /proc was listed is not in the list, and its parent may be gone already. */
const CALM_SWEEPS = 2;
const DOUBTFUL_SWEEPS = 25;
const DOUBT_MS = 10;

/** This runs where nothing can be waited for. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/**
 * Kills every process of the host that is marked, wherever it has gone: a daemon leaves its group and its session. One
 * that hides on purpose, by clearing its environment and going elsewhere, is not found. Linux only.
 */
export const killMarked = (mark: ProcessMark): void => {
  if (process.platform !== "linux") return;
  let calm = 0;
  for (let count = 0; count < MAX_SWEEPS; count++) {
    const { marked, isInDoubt } = sweep(mark);
    for (const pid of marked) kill(pid);
    calm = marked.length === 0 ? calm + 1 : 0;
    if (calm >= (isInDoubt ? DOUBTFUL_SWEEPS : CALM_SWEEPS)) return;
    if (isInDoubt) pause(DOUBT_MS);
  }
};
