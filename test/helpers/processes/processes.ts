import { readdirSync, readFileSync } from "node:fs";

/** What `/proc` says of a process; nothing of one that has ended or is somebody else's. */
export const readProcess = (pid: number, part: "cmdline" | "environ"): string => {
  try {
    return readFileSync(`/proc/${pid}/${part}`, "utf8");
  } catch {
    return "";
  }
};

/** The processes of this machine, in whatever sandbox, except for the one that asks. */
export const otherProcesses = (): number[] =>
  process.platform === "linux"
    ? readdirSync("/proc")
        .map(Number)
        .filter((pid) => pid > 0 && pid !== process.pid)
    : [];

/** The processes that have a mark on their command line, or in their environment. Each word there ends with a NUL byte. */
export const processesWith = (mark: string, where: "cmdline" | "environ" = "cmdline"): number[] =>
  otherProcesses().filter((pid) => readProcess(pid, where).includes(mark));

/** A process's command line, word by word. */
export const argvOf = (pid: number): string[] => readProcess(pid, "cmdline").split("\0").slice(0, -1);

/** The command lines of all processes, as far as they may be read. */
export const commandLines = (): string[] => otherProcesses().map((pid) => readProcess(pid, "cmdline"));
