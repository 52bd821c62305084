/** A program to be run in the project's directory, as if by its user. */
export interface ScenarioCommand {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ScenarioCommandResult {
  /** 124 if it took too long, 127 if the program is missing, 128 + n if signal n ended it. */
  readonly code: number;
  /** The end of what it printed. */
  readonly stdout: string;
  readonly stderr: string;
  /** It was not started at all: there is no such program. Not known in every place. */
  readonly isMissing?: true;
}

/**
 * Where the commands of a scenario run: on the host, or in a sandbox over the same project.
 *
 * - `run` MUST resolve for everything that a command can do. It rejects with `signal.reason`, or with an error of
 *   sanddune's if the place itself is gone.
 * - `close` MUST end whatever the commands have left running before it resolves, and MUST be idempotent.
 */
export interface CommandRunner {
  /** The project, as commands see it. */
  readonly projectRoot: string;
  run(command: ScenarioCommand): Promise<ScenarioCommandResult>;
  close(): Promise<void>;
}

/** How much is kept of what a command printed, of its end: that is all that a record shows. */
export const CAPTURE_BYTES = 64 * 1024;

export const EXIT_TIMEOUT = 124;
export const EXIT_NOT_FOUND = 127;
export const EXIT_KILLED = 137;
