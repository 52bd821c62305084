import type { ExecOptions, SandboxCapabilities } from "../sandboxes/contract.ts";
import type { CommandEnv, EnvVars } from "./envVars.ts";

/** The options of `createStandaloneSandbox()`. */
export interface StandaloneSandboxOptions {
  /** Env vars of all commands in the sandbox, in addition to those that its provider declares. */
  readonly env?: EnvVars;
  /** Set it to run commands with `sudo`, for example to install packages. */
  readonly usesSudo?: boolean;
  /** Capabilities that the sandbox must have. A provider without them is refused before anything is created. */
  readonly needs?: SandboxCapabilities;
  /** Aborting it stops the creation, removes everything created so far, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
}

/** The options of a standalone sandbox's `run()`. */
export interface SandboxCommandOptions
  extends Pick<
    ExecOptions,
    "stdin" | "timeoutMs" | "signal" | "onLine" | "onStderrLine" | "captureBytes" | "sudo"
  > {
  /** Where the command starts. Default: the sandbox's `directory`. */
  readonly cwd?: string;
  /** Additional env vars for this command. */
  readonly env?: CommandEnv;
}

/**
 * The result of a command, for any exit code: as named members, or as a tuple.
 *
 * @example
 * const sandbox = await createStandaloneSandbox(docker());
 * const { exitCode, durationMs } = await sandbox.run("npm test");
 * const [code, stdout, stderr] = await sandbox.run("ls");
 * const [codeAgain] = (await sandbox.run("ls")).unpack();
 */
export type CommandResult = readonly [exitCode: number, stdout: string, stderr: string] & {
  /** 128 + n if signal n ended the command. */
  readonly exitCode: number;
  /** The end of the output: at most `captureBytes`, by default one mebibyte. `onLine` gets all of it. */
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  /** The plain tuple, without the named members. */
  unpack(): readonly [exitCode: number, stdout: string, stderr: string];
};

/**
 * A sandbox without a repository: a machine to run commands on.
 *
 * - Paths are paths in the sandbox. A relative path starts at `directory` and must not leave it.
 * - Operations can run in parallel. The sandbox remains usable after a failure, a timeout or an abort.
 * - If the sandbox no longer exists, operations reject with a `SandboxLostError`. That is never reported as the result
 *   of a command.
 */
export interface StandaloneSandbox extends AsyncDisposable {
  /** The name of the sandbox in its engine. */
  readonly name: string;
  /** The directory in the sandbox where commands start. It is empty at first. */
  readonly directory: string;
  /**
   * Runs a command with `sh`. Resolves for any exit code. Rejects with a `ProcessTimeoutError` after a timeout and with
   * `signal.reason` after an abort; the command and all its descendants have been killed by then.
   */
  run(command: string, options?: SandboxCommandOptions): Promise<CommandResult>;
  /** Writes a file, replacing an existing one. Creates missing directories. */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  /** Reads a UTF-8 text file of at most 64 MiB. */
  readFile(path: string): Promise<string>;
  /** Reads a file of at most 64 MiB. */
  readFileBytes(path: string): Promise<Uint8Array>;
  /** Copies a host file or directory of any size into the sandbox. Creates missing directories. Copying a directory needs `tar` in the sandbox. */
  copyIn(hostPath: string, path: string): Promise<void>;
  /** Copies a regular file of any size to the host. Refuses symbolic links at both ends. */
  copyFileOut(path: string, hostPath: string): Promise<void>;
  /**
   * Stops all commands and removes the sandbox. Can be called any number of times. Rejects only if something could not
   * be removed, with an error that names it.
   */
  terminate(): Promise<void>;
}
