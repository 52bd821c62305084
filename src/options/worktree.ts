import type { WorktreeInteractiveOptions } from "./interactiveOptions.ts";
import type { CloseResult, InteractiveResult, RunResult } from "./results.ts";
import type { WorktreeRunOptions } from "./runOptions.ts";
import type { Sandbox } from "./sandbox.ts";
import type { WorktreeSandboxOptions } from "./sandboxOptions.ts";

/**
 * A worktree that lasts: agents and people work in it one after the other, each in whatever sandbox they like.
 *
 * - Calls take turns, also with those of its sandboxes: one that comes while another is going on waits for it.
 * - With `merge-to-head`, what a run has committed is merged when the run succeeds, and the worktree goes on.
 * - `close()` stops what is going on, closes the sandboxes that are still open, and removes the worktree if it is clean.
 */
export interface Worktree extends AsyncDisposable {
  /** Names it in `.sanddune/runs/`, in container labels and in refs. Each run in it has an id of its own. */
  readonly runId: string;
  /** The source branch: the one that is checked out in the worktree. */
  readonly branch: string;
  /** The worktree, on the host. */
  readonly worktreePath: string;
  /** The log of the making and the end of the worktree. Each run has a log of its own. */
  readonly logFilePath: string;
  /** What the making had to say: that a worktree with uncommitted changes was taken over, for one. */
  readonly warnings: readonly string[];
  /** Runs an agent in a sandbox that is made for this run. */
  run<Value = undefined>(options: WorktreeRunOptions<Value>): Promise<RunResult<Value>>;
  /** Shows the agent's own interface on the terminal, until the person leaves it. */
  interactive(options: WorktreeInteractiveOptions): Promise<InteractiveResult>;
  /** Makes a sandbox that lasts over the worktree. Closing it leaves the worktree as it is. */
  createSandbox(options: WorktreeSandboxOptions): Promise<Sandbox>;
  /** Removes the worktree, unless there is uncommitted work in it. */
  close(): Promise<CloseResult>;
}
