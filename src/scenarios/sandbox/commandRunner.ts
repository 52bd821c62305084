/** A program to be run in the project directory. */
export interface ScenarioCommand {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ScenarioCommandResult {
  /** 124 after a timeout, 127 if the program is missing, 128 + n if signal n ended it. */
  readonly code: number;
  /** The end of the output. */
  readonly stdout: string;
  readonly stderr: string;
  /** The program does not exist. Not every sandbox can tell. */
  readonly isMissing?: true;
}

/**
 * Runs commands of a scenario, on the host or in a sandbox over the same project.
 *
 * - `run` MUST resolve whatever the command does. It rejects with `signal.reason`, or with a `SandduneError` if the
 *   sandbox is lost.
 * - `close` MUST end all processes that the commands have left running before it resolves, and MUST be idempotent.
 */
export interface CommandRunner {
  /** The project, as commands see it. */
  readonly projectRoot: string;
  run(command: ScenarioCommand): Promise<ScenarioCommandResult>;
  close(): Promise<void>;
}

/** How much of the end of an output is kept: records show no more. */
export const CAPTURE_BYTES = 64 * 1024;

export const EXIT_TIMEOUT = 124;
export const EXIT_NOT_FOUND = 127;
export const EXIT_KILLED = 137;
