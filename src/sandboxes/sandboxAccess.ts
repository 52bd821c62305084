/** A process on the host that runs an argv in the sandbox. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  /** The complete environment of that process; the host's is used when it is left out. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Why a sandbox is lost, as far as could be found out. */
export interface Diagnosis {
  readonly problem: string;
  readonly details: string;
}

export interface LaunchOptions {
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
  /** Commands run on the host itself: its terminal is theirs, as it is. */
  readonly isHost?: boolean;
  /** Checks that there can be a terminal; rejects with an error that says what is missing. */
  requireTerminal?(): Promise<void>;
  /** Throws a `SandboxError` when `sudo` is not to be had. */
  launch(argv: readonly string[], options: LaunchOptions): Launch;
  /**
   * Kills, in the sandbox, what carries the exec id. The host process of the exec is being killed at the same time.
   * Must not reject, and must settle within two seconds.
   */
  kill(execId: string, options: { readonly sudo: boolean }): Promise<void>;
  /** The same, for when this process ends and nothing can be waited for; where the host sees the sandbox's processes. */
  killAtExit?(execId: string): void;
  /** Called when the sandbox does not answer. Must not reject, and must settle within a few seconds. */
  diagnose(): Promise<Diagnosis>;
  /**
   * Called after a command was killed by SIGKILL: what the sandbox itself knows to have killed it, e.g. its memory
   * limit. `undefined` when it knows nothing. Must not reject.
   */
  explainKill?(): Promise<Diagnosis | undefined>;
}
