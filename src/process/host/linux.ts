import { chmodSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isInside } from "../../tools/isInside.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { HostProcess, HostSystem } from "./system.ts";

const O_PATH = 0o10000000;
const TICKS_PER_SECOND = 100;

const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read();
  } catch {
    // The process is gone, or belongs to another user.
    return undefined;
  }
};

const pids = (): number[] =>
  readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);

const findProcess = (pid: number): HostProcess | undefined => {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses, which may contain any character.
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 2).split(" ");
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    name: stat.slice(stat.indexOf("(") + 1, end),
    isZombie: fields[0] === "Z" || fields[0] === "X",
    hasTerminal: fields[4] !== "0",
    hasMemory: fields[20] !== "0",
    startTime: fields[19] ?? "",
  };
};

/** Linux: everything is in `/proc`. */
export const linuxSystem: HostSystem = {
  name: "linux",
  processes: () => pids().flatMap((pid) => findProcess(pid) ?? []),
  findProcess,
  ageSeconds: ({ startTime }) =>
    Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) - Number(startTime) / TICKS_PER_SECOND,
  findByVariable: (name, value) => {
    const carriers: number[] = [];
    const blank: number[] = [];
    for (const pid of pids()) {
      const environment = attempt(() => readFileSync(`/proc/${pid}/environ`, "latin1"));
      if (environment === "") blank.push(pid);
      else if (environment?.split("\0").includes(`${name}=${value}`)) carriers.push(pid);
    }
    return { carriers, blank };
  },
  findInDirectory: (directory) =>
    pids().filter((pid) => attempt(() => isInside(directory, readlinkSync(`/proc/${pid}/cwd`)))),
  commandLines: () =>
    pids().flatMap((pid) => attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? []),
  bootId: () => attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? "",
  machineId: hostname,
  pidNamespace: () => attempt(() => readlinkSync("/proc/self/ns/pid")) ?? "",
  placeOnly: O_PATH,
  pathOfDirectory: (descriptor) => Buffer.from(`/proc/self/fd/${descriptor}`),
  // Through the path: an O_PATH descriptor does not permit changes.
  setMode: (descriptor, mode) => chmodSync(`/proc/self/fd/${descriptor}`, mode),
  copyOptions: ["-a", "--reflink=auto"],
  inOwnSession: (argv) => ({ program: "setsid", args: ["--wait", ...argv] }),
  inPseudoTerminal: (argv) => ({
    program: "script",
    args: [
      "--quiet",
      "--return",
      "--flush",
      "--command",
      `exec ${argv.map(shellQuote).join(" ")}`,
      "/dev/null",
    ],
  }),
};
