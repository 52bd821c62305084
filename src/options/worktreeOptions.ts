import type { WorktreeBranchStrategy } from "./branchStrategy.ts";
import type { WorktreeHooks } from "./hooks.ts";
import type { LoggingOption } from "./logging.ts";
import type { CheckoutOptions, SessionOptions } from "./runOptions.ts";

/** The options of `createWorktree()`. */
export interface CreateWorktreeOptions extends Pick<SessionOptions, "name">, CheckoutOptions {
  /** For the making only: aborting it gives everything back, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
  /** `branch` or `merge-to-head`: with `head` there would be no worktree. */
  readonly branchStrategy: WorktreeBranchStrategy;
  /** Commands that prepare the worktree. They run once. */
  readonly hooks?: WorktreeHooks;
  /** How the making and the end of the worktree are shown; `{ type: "file" }` when it is left out. */
  readonly logging?: Omit<LoggingOption, "onAgentStreamEvent">;
}
