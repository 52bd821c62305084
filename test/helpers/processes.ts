import { readdirSync, readFileSync } from "node:fs";

/** What `/proc` says of a process; nothing of one that has ended or is somebody else's. */
const read = (pid: number, part: "cmdline" | "environ"): string => {
  try {
    return readFileSync(`/proc/${pid}/${part}`, "utf8");
  } catch {
    return "";
  }
};

/** The processes of this machine, in whatever sandbox, except for the one that asks. */
const otherProcesses = (): number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid);

/** The processes that have a mark on their command line, or in their environment. Each word there ends with a NUL byte. */
export const processesWith = (mark: string, where: "cmdline" | "environ" = "cmdline"): number[] =>
  otherProcesses().filter((pid) => read(pid, where).includes(mark));

/** A process's command line, word by word. */
export const argvOf = (pid: number): string[] => read(pid, "cmdline").split("\0").slice(0, -1);

/** The command lines of all processes, as far as they may be read. */
export const commandLines = (): string[] => otherProcesses().map((pid) => read(pid, "cmdline"));
