import { spawnSync } from "node:child_process";
import { constants, fchmodSync, fstatSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { basename } from "node:path";
import { escapeRegExp } from "../../tools/escapeRegExp.ts";
import { isInside } from "../../tools/isInside.ts";
import { findProgram, hostPath } from "../hostPrograms.ts";
import type { HostProcess, HostSystem } from "./system.ts";

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** `undefined` if the program is missing, or fails without output. */
const ask = (program: string, ...args: string[]): string | undefined => {
  const { stdout, status } = spawnSync(findProgram(program), args, {
    encoding: "utf8",
    // Start times are printed in the local time zone; they must be equal for every caller.
    env: { LC_ALL: "C", TZ: "UTC", PATH: hostPath() },
    maxBuffer: MAX_OUTPUT_BYTES,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 || stdout ? stdout : undefined;
};

/** The name is last because it can contain spaces. */
const COLUMNS = "pid=,ppid=,pgid=,stat=,tty=,vsz=,lstart=,comm=";
const ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\d+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/;

const parseRow = (row: string): HostProcess[] => {
  const [, pid, parent, group, state = "", tty = "", size, startTime = "", name = ""] = ROW.exec(row) ?? [];
  if (pid === undefined) return [];
  return [
    {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      name: basename(name),
      isZombie: state.startsWith("Z"),
      hasTerminal: !/^\?+$/.test(tty),
      hasMemory: size !== "0",
      startTime: startTime.replace(/\s+/g, " "),
    },
  ];
};

const rows = (listing: string | undefined): string[] => {
  if (listing === undefined) throw new Error("ps cannot list the processes of this machine");
  return listing.split("\n");
};

/** `lsof -F pn` prints a line `p<pid>` and then lines `n<path>` of that process. */
const pidsByPath = (listing: string, isWanted: (path: string) => boolean): number[] => {
  const found: number[] = [];
  let pid = 0;
  for (const line of listing.split("\n")) {
    if (line.startsWith("p")) pid = Number(line.slice(1));
    else if (line.startsWith("n") && isWanted(line.slice(1))) found.push(pid);
  }
  return found;
};

/** The path of a directory by its inode, which is not reused while a descriptor is open. */
const volumePath = (descriptor: number): Buffer | undefined => {
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  const path = `/.vol/${dev}/${ino}`;
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found?.dev === dev && found.ino === ino ? Buffer.from(path) : undefined;
};

/** Runs a program as the leader of a session, in a child: the leader of a process group cannot become one. */
const OWN_SESSION = `
use POSIX;
my $child = fork // die "fork: $!";
if (!$child) { POSIX::setsid(); exec { $ARGV[0] } @ARGV or POSIX::_exit($! == ENOENT ? 127 : 126) }
waitpid $child, 0;
exit($? & 127 ? 128 + ($? & 127) : $? >> 8);
`;

/**
 * macOS has no `/proc`: ps, lsof and sysctl report processes. Programs of the system, such as `/bin/sh`, hide their
 * environment there, so callers must check the descendants of a process as well. `environmentOption` lets ps show
 * environments after command lines.
 */
export const macosSystem = ({ environmentOption } = { environmentOption: "-E" }): HostSystem => {
  let boot: string | undefined;
  let machine: string | undefined;
  return {
    name: "macos",
    processes: () => rows(ask("ps", "-Ao", COLUMNS)).flatMap(parseRow),
    findProcess: (pid) => parseRow((ask("ps", "-o", COLUMNS, "-p", String(pid)) ?? "").trimEnd())[0],
    ageSeconds: ({ startTime }) => (Date.now() - Date.parse(`${startTime} UTC`)) / 1000,
    findByVariable: (name, value) => {
      const assignment = new RegExp(`^\\s*(\\d+)\\s.*\\s${escapeRegExp(`${name}=${value}`)}(\\s|$)`, "s");
      const listing = rows(ask("ps", environmentOption, "-Aww", "-o", "pid=,command="));
      const carriers = listing.flatMap((row) => assignment.exec(row)?.[1] ?? []).map(Number);
      return { carriers, blank: [] };
    },
    findInDirectory: (directory) =>
      pidsByPath(ask("lsof", "-w", "-d", "cwd", "-F", "pn") ?? "", (path) => isInside(directory, path)),
    commandLines: () => rows(ask("ps", "-Aww", "-o", "command=")),
    bootId: () => {
      boot ??= ask("sysctl", "-n", "kern.bootsessionuuid")?.trim() ?? "";
      return boot;
    },
    // The host name changes with every network that the machine joins.
    machineId: () => {
      machine ??=
        /"IOPlatformUUID" = "([^"]+)"/.exec(
          ask("ioreg", "-rd1", "-c", "IOPlatformExpertDevice") ?? "",
        )?.[1] ?? hostname();
      return machine;
    },
    pidNamespace: () => "",
    placeOnly: constants.O_RDONLY,
    pathOfDirectory: (descriptor, ownPath) => volumePath(descriptor) ?? ownPath,
    setMode: fchmodSync,
    copyOptions: ["-Rpc"],
    archiveOptions: ["--format=posix"],
    inOwnSession: (argv) => ({ program: "perl", args: ["-e", OWN_SESSION, "--", ...argv] }),
    inPseudoTerminal: (argv) => ({ program: "script", args: ["-q", "/dev/null", ...argv] }),
  };
};
