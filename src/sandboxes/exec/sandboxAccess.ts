import type { LaunchStreams } from "./runLaunch.ts";

/** A process on the host that runs an argv in the sandbox. */
export interface HostProcess {
  readonly program: string;
  /** Read after `isReady` has resolved. */
  readonly args: readonly string[];
  /** The complete environment of that process; the host's is used when it is left out. */
  readonly env?: Readonly<Record<string, string>>;
  /** Awaited before the process is started: the connection to the sandbox has to be open. */
  isReady?(): Promise<void>;
}

/** A call of a library that runs an argv in the sandbox. */
export interface LibraryCall {
  /**
   * Resolves with the client's exit code; only the exit marker is believed. Rejects if the connection broke. When the
   * signal is aborted, the caller stops waiting, and kills what runs in the sandbox by other means.
   */
  call(streams: LaunchStreams): Promise<number>;
  /** When all of the command's output has arrived, the call is aborted at once: nothing more is to be learnt from it. */
  readonly endsWithOutput?: boolean;
}

/** A way to run an argv in the sandbox. */
export type Launch = HostProcess | LibraryCall;

/** Why a sandbox is lost, as far as it is known. */
export interface Diagnosis {
  readonly problem: string;
  readonly details: string;
  /** Commands in the sandbox caused it: they used up its memory, or made it unusable. */
  readonly isByCommands?: boolean;
}

/** How a command is to be started. */
export interface LaunchOptions {
  /** Run as root in the sandbox. */
  readonly sudo: boolean;
  /** Set when the argv is a command's wrapper, which puts the id into its environment itself. */
  readonly execId?: string;
  /** The argv gets a terminal in the sandbox, which is shown on this process's terminal. */
  readonly terminal?: boolean;
}

/** How the commands of one sandbox are run, killed and explained. */
export interface SandboxAccess {
  /** Names the sandbox provider in errors. */
  readonly provider: string;
  readonly worktreePath: string;
  /** HOME in the sandbox, if the sandbox's own HOME is missing or not writable. */
  readonly fallbackHome: string;
  /** The sandbox's directory for temporary files; `/tmp` when it is left out. */
  readonly temporaryPath?: string;
  /** Commands run on the host itself, and use its terminal directly. */
  readonly isHost?: boolean;
  /** Checks that a terminal is possible; rejects with an error that names what is missing. */
  requireTerminal?(): Promise<void>;
  /** The sandbox is on another machine: a client that ends with its own exit code has lost its connection. */
  readonly isRemote?: boolean;
  /** Throws a `SandboxError` when `sudo` is unavailable. */
  launch(argv: readonly string[], options: LaunchOptions): Launch;
  /**
   * Kills the processes in the sandbox that carry the exec id. The exec's process on the host is killed at the same time.
   * Must not reject, and must settle within seconds.
   */
  kill(execId: string, options: { readonly sudo: boolean }): Promise<void>;
  /** Closing the sandbox kills all of its processes at once, so that none has to be killed before. */
  readonly closingKills?: boolean;
  /** A synchronous `kill` for when this process exits; possible where the host sees the sandbox's processes. */
  killAtExit?(execId: string): void;
  /** Called when the sandbox does not answer. Must not reject, and must settle within a few seconds. */
  diagnose(): Promise<Diagnosis>;
  /**
   * Called after SIGKILL ended a command: explains it if the sandbox knows the cause, e.g. its memory limit. Must not
   * reject.
   */
  explainKill?(): Promise<Diagnosis | undefined>;
}
