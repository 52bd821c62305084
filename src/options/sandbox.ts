import type { SandboxInteractiveOptions } from "./interactiveOptions.ts";
import type { CloseResult, InteractiveResult, SandboxExecResult, SandboxRunResult } from "./results.ts";
import type { SandboxRunOptions } from "./runOptions.ts";
import type { SandboxExecOptions } from "./sandboxOptions.ts";

/** The options of `sandbox.fork()`. */
export interface SandboxForkOptions {
  /** A branch for each fork, which must not exist. Default: the sandbox's branch with `-1`, `-2` and so on, as far as they are free. */
  readonly branches?: readonly string[];
  /** Names the forks in `sanddune ps`, in logs and on the terminal. */
  readonly name?: string;
  /** Aborting it removes all forks, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
}

/**
 * A long-lived sandbox on one branch. Its state (installed dependencies, build results) persists between calls.
 *
 * - Calls take turns: a call waits until the one before it has finished.
 * - The sandbox remains usable after an abort, an idle timeout or a failed agent.
 * - `close()` stops the current call, imports its commits, and can be called any number of times.
 */
export interface Sandbox extends AsyncDisposable {
  /** The id of the sandbox in `.sanddune/runs/`, in container labels and in refs. Each run in it has its own id. */
  readonly runId: string;
  /** The branch that all commits in the sandbox go to. */
  readonly branch: string;
  /** The path of the worktree on the host. */
  readonly worktreePath: string;
  /** The log of the sandbox's start and end, and of `exec()`. Each run has its own log. */
  readonly logFilePath: string;
  /** Warnings from creating the sandbox, for example that its worktree existed and has uncommitted changes. */
  readonly warnings: readonly string[];
  /** Runs an agent in the sandbox. Its commits are on the branch when the promise resolves. */
  run<Value = undefined>(options: SandboxRunOptions<Value>): Promise<SandboxRunResult<Value>>;
  /** Runs a command with `sh`, in the directory where agents start, with the sandbox's env vars. Resolves for any exit code. */
  exec(command: string, options?: SandboxExecOptions): Promise<SandboxExecResult>;
  /** Shows the agent's own interface in the terminal, until the person leaves it. */
  interactive(options: SandboxInteractiveOptions): Promise<InteractiveResult>;
  /**
   * Creates 1 to 32 sandboxes with the same state, each on a branch of its own: commits, uncommitted, untracked and ignored files,
   * the index, HOME, and what commands have changed in the sandbox. Processes are not copied, and hooks do not run again. Each fork
   * is a sandbox like any other, with its files at its `worktreePath`, and outlives this one. Either all forks are created or none.
   * Not with every sandbox provider.
   */
  fork(count: number, options?: SandboxForkOptions): Promise<Sandbox[]>;
  /**
   * Closes the sandbox. Also removes the worktree if `createSandbox()` made it and it has no uncommitted changes. A
   * worktree from `createWorktree()` stays.
   */
  close(): Promise<CloseResult>;
}
