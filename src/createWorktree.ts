import * as Effect from "effect/Effect";
import { openLastingWorktree } from "./engine/lasting.ts";
import { planCreateWorktree } from "./engine/planLasting.ts";
import { validateCreateWorktree } from "./engine/validateOptions.ts";
import { lastingWorktree } from "./lastingWorktree.ts";
import { enter } from "./process/boundary.ts";
import type { Worktree } from "./worktree.ts";
import type { CreateWorktreeOptions } from "./worktreeOptions.ts";

/**
 * Makes a worktree, for sessions that come one after the other: a person looks around, an agent works in a sandbox,
 * another reviews.
 *
 * @example
 * const worktree = await createWorktree({ branchStrategy: { type: "branch", branch: "agent/fix-42" } });
 * await worktree.interactive({ agent, prompt: "Plan the fix of issue 42 with me" });
 * await worktree.run({ agent, sandbox: docker(), prompt: "Follow PLAN.md" });
 * await worktree.close();
 */
export const createWorktree = (options: CreateWorktreeOptions): Promise<Worktree> =>
  enter(options, validateCreateWorktree, (own) =>
    planCreateWorktree(own).pipe(Effect.flatMap(openLastingWorktree), Effect.map(lastingWorktree)),
  );
