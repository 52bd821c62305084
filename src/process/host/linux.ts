import { chmodSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isInside } from "../../tools/isInside.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { HostProcess, HostSystem } from "./system.ts";

const O_PATH = 0o10000000;
const TICKS_PER_SECOND = 100;

const pids = (): number[] =>
  readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);

const findProcess = (pid: number): HostProcess | undefined => {
  const stat = orUndefined(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
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
      const environment = orUndefined(() => readFileSync(`/proc/${pid}/environ`, "latin1"));
      if (environment === "") blank.push(pid);
      else if (environment?.split("\0").includes(`${name}=${value}`)) carriers.push(pid);
    }
    return { carriers, blank };
  },
  findInDirectory: (directory) =>
    pids().filter((pid) => orUndefined(() => isInside(directory, readlinkSync(`/proc/${pid}/cwd`)))),
  commandLines: () =>
    pids().flatMap((pid) => orUndefined(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? []),
  bootId: () => orUndefined(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? "",
  machineId: hostname,
  pidNamespace: () => orUndefined(() => readlinkSync("/proc/self/ns/pid")) ?? "",
  placeOnly: O_PATH,
  pathOfDirectory: (descriptor) => Buffer.from(`/proc/self/fd/${descriptor}`),
  // Through the path: an O_PATH descriptor does not permit changes.
  setMode: (descriptor, mode) => chmodSync(`/proc/self/fd/${descriptor}`, mode),
  copyOptions: ["-a", "--reflink=auto"],
  archiveOptions: ["--format=posix", "--sparse"],
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
