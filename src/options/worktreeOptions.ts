import type { WorktreeBranchStrategy } from "./branchStrategy.ts";
import type { WorktreeHooks } from "./hooks.ts";
import type { LoggingOption } from "./logging.ts";
import type { CheckoutOptions, SessionOptions } from "./runOptions.ts";

/** The options of `createWorktree()`. */
export interface CreateWorktreeOptions extends Pick<SessionOptions, "name">, CheckoutOptions {
  /** Aborting it stops the creation, removes everything created so far, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
  /** `branch` or `merge-to-head`. With `head` there is no worktree. */
  readonly branchStrategy: WorktreeBranchStrategy;
  /** Commands that prepare the worktree. They run once. */
  readonly hooks?: WorktreeHooks;
  /** How the creation and the removal of the worktree are shown. Default: `{ type: "file" }`. */
  readonly logging?: Omit<LoggingOption, "onAgentStreamEvent">;
}
