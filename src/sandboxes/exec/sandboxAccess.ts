import type { LaunchStreams } from "./runLaunch.ts";

/** A process on the host that runs an argv in the sandbox. */
export interface HostProcess {
  readonly program: string;
  /** Looked at when `isReady` has resolved. */
  readonly args: readonly string[];
  /** The complete environment of that process; the host's is used when it is left out. */
  readonly env?: Readonly<Record<string, string>>;
  /** Waited for before the process is started: a way to the sandbox that has to be open. */
  isReady?(): Promise<void>;
}

/** A call of a library that runs an argv in the sandbox. */
export interface LibraryCall {
  /**
   * Resolves with the exit code, as far as it is known: only the exit marker is believed. Rejects if the connection
   * broke. When the signal is aborted, nobody waits for it any more; what runs in the sandbox is killed by others.
   */
  call(streams: LaunchStreams): Promise<number>;
}

/** What runs an argv in the sandbox. */
export type Launch = HostProcess | LibraryCall;

/** Why a sandbox is lost, as far as could be found out. */
export interface Diagnosis {
  readonly problem: string;
  readonly details: string;
  /** Commands in the sandbox have caused it: they have used up its memory, or made it unusable. */
  readonly isByCommands?: boolean;
}

/** How a command is to be started. */
export interface LaunchOptions {
  /** Run as root in the sandbox. */
  readonly sudo: boolean;
  /** Set when the argv is a command's wrapper, which puts the id into its environment itself. */
  readonly execId?: string;
  /** The argv gets a terminal of the sandbox's own, which is shown on the one that this process has. */
  readonly terminal?: boolean;
}

/** How the commands of one sandbox are run, killed and explained. */
export interface SandboxAccess {
  /** Names the sandbox provider in errors. */
  readonly provider: string;
  readonly worktreePath: string;
  /** A directory of the sandbox that serves as HOME when the sandbox offers none that can be written to. */
  readonly fallbackHome: string;
  /** Where the sandbox has temporary files; `/tmp` when it is left out. */
  readonly temporaryPath?: string;
  /** Commands run on the host itself: its terminal is theirs, as it is. */
  readonly isHost?: boolean;
  /** Checks that there can be a terminal; rejects with an error that says what is missing. */
  requireTerminal?(): Promise<void>;
  /** It is on another machine: a client that ends with an exit code of its own has lost its connection. */
  readonly isRemote?: boolean;
  /** Throws a `SandboxError` when `sudo` is unavailable. */
  launch(argv: readonly string[], options: LaunchOptions): Launch;
  /**
   * Kills, in the sandbox, what carries the exec id. The host process of the exec is being killed at the same time.
   * Must not reject, and must settle within seconds.
   */
  kill(execId: string, options: { readonly sudo: boolean }): Promise<void>;
  /** Closing the sandbox kills all that runs in it, at once: what still runs then is not killed one by one before. */
  readonly closingKills?: boolean;
  /** The same as `kill`, for when this process ends and nothing can be waited for; where the host sees the sandbox's processes. */
  killAtExit?(execId: string): void;
  /** Called when the sandbox does not answer. Must not reject, and must settle within a few seconds. */
  diagnose(): Promise<Diagnosis>;
  /**
   * Called after a command was killed by SIGKILL: what the sandbox itself knows to have killed it, e.g. its memory
   * limit. `undefined` when it knows nothing. Must not reject.
   */
  explainKill?(): Promise<Diagnosis | undefined>;
}
