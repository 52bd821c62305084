import { enter } from "./boundary/enter.ts";
import { validateCreateWorktree } from "./options/checks/entryPoints.ts";
import type { Worktree } from "./options/worktree.ts";
import type { CreateWorktreeOptions } from "./options/worktreeOptions.ts";

/**
 * Creates a worktree for several sessions, one after the other: for example, plan interactively, let an agent work in a
 * sandbox, and let another agent review.
 *
 * @example
 * const worktree = await createWorktree({ branchStrategy: { type: "branch", branch: "agent/fix-42" } });
 * await worktree.interactive({ agent, prompt: "Plan the fix of issue 42 with me" });
 * await worktree.run({ agent, sandbox: docker(), prompt: "Follow PLAN.md" });
 * await worktree.close();
 */
export const createWorktree = (options: CreateWorktreeOptions): Promise<Worktree> =>
  enter(
    options,
    validateCreateWorktree,
    async () => (await import("./engine/entryPoints.ts")).createWorktree,
  );
