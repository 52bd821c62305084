import { linuxSystem } from "./linux.ts";
import { macosSystem } from "./macos.ts";

export interface HostProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The name of its program. */
  readonly name: string;
  /** It has ended, and its parent has not reaped it yet. */
  readonly isZombie: boolean;
  readonly hasTerminal: boolean;
  /** False for kernel threads and for processes that have ended. */
  readonly hasMemory: boolean;
  /** When it started, in the units of the operating system. */
  readonly startTime: string;
}

/** Processes by their environment. */
export interface EnvironmentSearch {
  readonly carriers: readonly number[];
  /** Processes without an environment: during an exec, or after clearing it. Empty if that is not visible. */
  readonly blank: readonly number[];
}

/** An argv that starts a program. */
export interface HostCommand {
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * Everything that sanddune needs from the host and that differs between operating systems. Other code must not check
 * `process.platform`, read `/proc` of the host, or use options of GNU programs.
 */
export interface HostSystem {
  readonly name: "linux" | "macos";
  /** Every visible process. Throws if they cannot be listed. */
  processes(): HostProcess[];
  /** One process, or `undefined` if it does not exist. */
  findProcess(pid: number): HostProcess | undefined;
  ageSeconds(process: HostProcess): number;
  /** The processes whose environment holds exactly `name=value`. */
  findByVariable(name: string, value: string): EnvironmentSearch;
  /** The processes whose working directory is `directory` or below it. */
  findInDirectory(directory: string): number[];
  /** The command line of every visible process. */
  commandLines(): string[];
  /** Changes with every boot; empty if unknown. */
  bootId(): string;
  /** Identifies the machine, independent of its network. */
  machineId(): string;
  /** Process ids are only valid in one namespace; empty on systems without namespaces. */
  pidNamespace(): string;
  /** A flag of `open` for a descriptor that only refers to a path, if the system has one. */
  readonly placeOnly: number;
  /** The path of an open directory, even if it was moved; otherwise `ownPath`, its path when it was opened. */
  pathOfDirectory(descriptor: number, ownPath: Buffer): Buffer;
  /** Sets the permissions of the file behind a `placeOnly` descriptor. */
  setMode(descriptor: number, mode: number): void;
  /** Options of `cp` that preserve everything, and share blocks with the original if the file system can. */
  readonly copyOptions: readonly string[];
  /** Options of `tar` for an archive that preserves times to the nanosecond, and holes. */
  readonly archiveOptions: readonly string[];
  /** Runs a program in its own session, with the same exit code. */
  inOwnSession(argv: readonly string[]): HostCommand;
  /** Runs a program in a pseudo terminal that is connected to the terminal of this process. */
  inPseudoTerminal(argv: readonly string[]): HostCommand;
}

let current: HostSystem | undefined;

export const hostSystem = (): HostSystem => {
  current ??= process.platform === "darwin" ? macosSystem() : linuxSystem;
  return current;
};

/** Replaces the detected system. Returns a function that undoes that. */
export const useHostSystem = (system: HostSystem): (() => void) => {
  const former = hostSystem();
  current = system;
  return () => {
    current = former;
  };
};
