import * as Effect from "effect/Effect";
import type { CreateSandboxOptions, WorktreeSandboxOptions } from "../../options/sandboxOptions.ts";
import type { CreateWorktreeOptions } from "../../options/worktreeOptions.ts";
import type { ParentSession } from "./parentSession.ts";
import { DEFAULTS, planCheckout, planSandboxWithTests } from "./planRun.ts";
import { planSession } from "./planSession.ts";

/** Plans `createWorktree()`. */
export const planCreateWorktree = Effect.fnUntraced(function* (options: CreateWorktreeOptions) {
  const { branchStrategy, logging = DEFAULTS.logging } = options;
  const { session, source } = yield* planSession({ kind: "worktree", options, logging, branchStrategy });
  return { session, checkout: planCheckout(options, source, { lasts: true }) };
});

/** Plans `createSandbox()`. */
export const planCreateSandbox = Effect.fnUntraced(function* (options: CreateSandboxOptions) {
  const { branch, from, env = {}, logging = DEFAULTS.logging } = options;
  const sandbox = yield* planSandboxWithTests(options);
  const branchStrategy = { type: "branch", branch, ...(from !== undefined && { from }) } as const;
  const planned = yield* planSession({ kind: "sandbox", options, logging, sandbox, branchStrategy });
  return {
    session: planned.session,
    checkout: planCheckout(options, planned.source, { lasts: true }),
    sandbox,
    env,
  };
});

/** Plans `worktree.createSandbox()`. */
export const planWorktreeSandbox = Effect.fnUntraced(function* (
  options: WorktreeSandboxOptions,
  parentSession: ParentSession,
) {
  const { env = {}, logging = DEFAULTS.logging } = options;
  const sandbox = yield* planSandboxWithTests(options, parentSession);
  const { session } = yield* planSession({ kind: "sandbox", options, logging, sandbox, parentSession });
  return { session, sandbox, env };
});
