import * as Effect from "effect/Effect";
import type { CreateSandboxOptions, WorktreeSandboxOptions } from "../../options/sandboxOptions.ts";
import type { CreateWorktreeOptions } from "../../options/worktreeOptions.ts";
import type { ParentSession } from "./parentSession.ts";
import { planCheckout } from "./planCheckout.ts";
import { planSandboxWithTests } from "./planSandbox.ts";
import { planSession } from "./planSession.ts";

export const planCreateWorktree = Effect.fnUntraced(function* (options: CreateWorktreeOptions) {
  const { branchStrategy } = options;
  const { session, source } = yield* planSession({ kind: "worktree", options, branchStrategy });
  return { session, checkout: planCheckout(options, source, { lasts: true }) };
});

export const planCreateSandbox = Effect.fnUntraced(function* (options: CreateSandboxOptions) {
  const { branch, from, env = {} } = options;
  const sandbox = yield* planSandboxWithTests(options);
  const branchStrategy = { type: "branch", branch, ...(from !== undefined && { from }) } as const;
  const planned = yield* planSession({ kind: "sandbox", options, sandbox, branchStrategy });
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
  const { env = {} } = options;
  const sandbox = yield* planSandboxWithTests(options, parentSession);
  const { session } = yield* planSession({ kind: "sandbox", options, sandbox, parentSession });
  return { session, sandbox, env };
});
