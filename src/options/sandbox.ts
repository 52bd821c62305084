import type { SandboxInteractiveOptions } from "./interactiveOptions.ts";
import type { CloseResult, InteractiveResult, SandboxExecResult, SandboxRunResult } from "./results.ts";
import type { SandboxRunOptions } from "./runOptions.ts";
import type { SandboxExecOptions } from "./sandboxOptions.ts";

/**
 * A sandbox that lasts, on one branch: what one call leaves in it (dependencies, build results) the next one finds.
 *
 * - Calls take turns: one that comes while another is going on waits for it.
 * - After an abort, an idle timeout or a failed agent the sandbox can be used as before.
 * - `close()` stops what is going on, brings its commits home, and can be called any number of times.
 */
export interface Sandbox extends AsyncDisposable {
  /** Names it in `.sanddune/runs/`, in container labels and in refs. Each run in it has an id of its own. */
  readonly runId: string;
  /** The branch that everything in the sandbox commits to. */
  readonly branch: string;
  /** The worktree, on the host. */
  readonly worktreePath: string;
  /** The log of the making and the end of the sandbox, and of what `exec()` runs. Each run has a log of its own. */
  readonly logFilePath: string;
  /** What the making had to say: that a worktree with uncommitted changes was taken over, for one. */
  readonly warnings: readonly string[];
  /** Runs an agent in the sandbox; what it commits is on the branch when the promise resolves. */
  run<Value = undefined>(options: SandboxRunOptions<Value>): Promise<SandboxRunResult<Value>>;
  /** Runs a command with `sh`, where an agent would start, with the env vars of the sandbox. Resolves for every exit code. */
  exec(command: string, options?: SandboxExecOptions): Promise<SandboxExecResult>;
  /** Shows the agent's own interface on the terminal, until the person leaves it. */
  interactive(options: SandboxInteractiveOptions): Promise<InteractiveResult>;
  /**
   * Ends the sandbox. If it was made with `createSandbox()` its worktree goes too, unless there is uncommitted work in
   * it; a worktree from `createWorktree()` stays.
   */
  close(): Promise<CloseResult>;
}
