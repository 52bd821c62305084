import { linuxSystem } from "./linux.ts";
import { macosSystem } from "./macos.ts";

/** One process of the host. */
export interface HostProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The name of its program. */
  readonly name: string;
  /** It has ended, and its parent has not collected it yet. */
  readonly isZombie: boolean;
  readonly hasTerminal: boolean;
  /** Kernel threads have no memory, nor have processes that have ended. */
  readonly hasMemory: boolean;
  /** When it started, in the units of the operating system. */
  readonly startTime: string;
}

/** Processes by what their environment says. */
export interface EnvironmentSearch {
  readonly carriers: readonly number[];
  /** In the middle of an exec, a process has no environment; others have cleared theirs. Empty where that is not visible. */
  readonly blank: readonly number[];
}

/** An argv that starts a program. */
export interface HostCommand {
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * Everything that sanddune asks of the host and that differs between operating systems. Code elsewhere must not look at
 * `process.platform`, read `/proc` of the host, or use options that only GNU programs have.
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
  /** Names the machine, however its network calls it. */
  machineId(): string;
  /** Process ids mean something within one namespace only; empty where there are none. */
  pidNamespace(): string;
  /** For `open`: a descriptor that only names a place, where the system has such descriptors. */
  readonly placeOnly: number;
  /** A path that leads to an open directory, wherever it has been moved; else `ownPath`, its path when it was opened. */
  pathOfDirectory(descriptor: number, ownPath: Buffer): Buffer;
  /** Sets the permissions of what a `placeOnly` descriptor names. */
  setMode(descriptor: number, mode: number): void;
  /** Options of `cp`: keep everything, and share blocks with the original where the file system can. */
  readonly copyOptions: readonly string[];
  /** Runs a program in a session of its own, and ends as the program does. */
  inOwnSession(argv: readonly string[]): HostCommand;
  /** Runs a program on a pseudo terminal that is shown on the terminal of this process. */
  inPseudoTerminal(argv: readonly string[]): HostCommand;
}

let current: HostSystem | undefined;

export const hostSystem = (): HostSystem => {
  current ??= process.platform === "darwin" ? macosSystem() : linuxSystem;
  return current;
};

/** Puts another system in the place of the one that was found. The result undoes that. */
export const useHostSystem = (system: HostSystem): (() => void) => {
  const former = hostSystem();
  current = system;
  return () => {
    current = former;
  };
};
