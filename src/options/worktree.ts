import type { WorktreeInteractiveOptions } from "./interactiveOptions.ts";
import type { CloseResult, InteractiveResult, RunResult } from "./results.ts";
import type { WorktreeRunOptions } from "./runOptions.ts";
import type { Sandbox } from "./sandbox.ts";
import type { WorktreeSandboxOptions } from "./sandboxOptions.ts";

/**
 * A long-lived worktree, in which agents and people work one after the other, each in any sandbox.
 *
 * - Calls take turns, also with calls on its sandboxes: a call waits until the one before it has finished.
 * - With `merge-to-head`, the commits of each run are merged when it succeeds. The worktree stays.
 * - `close()` stops the current call, closes the worktree's sandboxes, and removes the worktree if it is clean.
 */
export interface Worktree extends AsyncDisposable {
  /** The id of the worktree in `.sanddune/runs/` and in refs. Each run in it has its own id. */
  readonly runId: string;
  /** The source branch, which is checked out in the worktree. */
  readonly branch: string;
  /** The path of the worktree on the host. */
  readonly worktreePath: string;
  /** The log of the worktree's creation and removal. Each run has its own log. */
  readonly logFilePath: string;
  /** Warnings from creating the worktree, for example that it existed and has uncommitted changes. */
  readonly warnings: readonly string[];
  /** Runs an agent in a sandbox that is created for this run. */
  run<Value = undefined>(options: WorktreeRunOptions<Value>): Promise<RunResult<Value>>;
  /** Shows the agent's own interface in the terminal, until the person leaves it. */
  interactive(options: WorktreeInteractiveOptions): Promise<InteractiveResult>;
  /** Creates a long-lived sandbox on the worktree. Closing the sandbox does not affect the worktree. */
  createSandbox(options: WorktreeSandboxOptions): Promise<Sandbox>;
  /** Removes the worktree, unless it has uncommitted changes. */
  close(): Promise<CloseResult>;
}
