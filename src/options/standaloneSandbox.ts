import type { ExecOptions, SandboxCapabilities } from "../sandboxes/contract.ts";
import type { CommandEnv, EnvVars } from "./envVars.ts";

/** The options of `createStandaloneSandbox()`. */
export interface StandaloneSandboxOptions {
  /** Env vars of every command in the sandbox, besides those that its provider declares. */
  readonly env?: EnvVars;
  /** Commands are going to be run with `sudo`, to install packages for instance. */
  readonly usesSudo?: boolean;
  /** What the sandbox has to be able to do. A provider whose sandboxes cannot is refused before anything is created. */
  readonly needs?: SandboxCapabilities;
  /** For the making only: aborting it gives everything back, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
}

/** The options of `run()` of a standalone sandbox. */
export interface SandboxCommandOptions
  extends Pick<
    ExecOptions,
    "stdin" | "timeoutMs" | "signal" | "onLine" | "onStderrLine" | "captureBytes" | "sudo"
  > {
  /** Where the command starts; `directory` of the sandbox when it is left out. */
  readonly cwd?: string;
  /** Env vars of this command, besides those of the sandbox. */
  readonly env?: CommandEnv;
}

/**
 * What became of a command, whatever its exit code: by name, or in this order.
 *
 * @example
 * const sandbox = await createStandaloneSandbox(docker());
 * const { exitCode, durationMs } = await sandbox.run("npm test");
 * const [code, stdout, stderr] = await sandbox.run("ls");
 * const [codeAgain] = (await sandbox.run("ls")).unpack();
 */
export type CommandResult = readonly [exitCode: number, stdout: string, stderr: string] & {
  /** 128 + n when signal n ended the command. */
  readonly exitCode: number;
  /** The end of what was printed: at most `captureBytes`, a mebibyte when that is left out. `onLine` gets all of it. */
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  /** The tuple alone, without names. */
  unpack(): readonly [exitCode: number, stdout: string, stderr: string];
};

/**
 * A sandbox that belongs to no repository: a machine to run commands on.
 *
 * - Paths are paths in the sandbox; a relative one begins at `directory`, and must not leave it.
 * - Operations may go on side by side. After a failure, a timeout or an abort the sandbox can be used as before.
 * - If the sandbox is gone, operations reject with a `SandboxLostError`: never is that the result of a command.
 */
export interface StandaloneSandbox extends AsyncDisposable {
  /** What its engine knows it by. */
  readonly name: string;
  /** A directory in the sandbox, empty at first, where commands start. */
  readonly directory: string;
  /**
   * Runs a line for `sh`. Resolves for every exit code. A timeout is a `ProcessTimeoutError`, and an abort rejects with
   * `signal.reason`; in both cases the command is killed with all its descendants first.
   */
  run(command: string, options?: SandboxCommandOptions): Promise<CommandResult>;
  /** Writes a file anew; missing directories are made. */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  /** Reads a file that is UTF-8 text, of 64 MiB at most. */
  readFile(path: string): Promise<string>;
  /** Reads a file of 64 MiB at most. */
  readFileBytes(path: string): Promise<Uint8Array>;
  /** Copies a host file or directory into the sandbox, of any size; missing directories are made. A directory needs `tar` in it. */
  copyIn(hostPath: string, path: string): Promise<void>;
  /** Copies one regular file to the host, of any size. Refuses symbolic links, at either end. */
  copyFileOut(path: string, hostPath: string): Promise<void>;
  /**
   * Ends what runs in the sandbox, and removes it. Can be called any number of times. Rejects only if something is left
   * behind, with an error that says what.
   */
  terminate(): Promise<void>;
}
