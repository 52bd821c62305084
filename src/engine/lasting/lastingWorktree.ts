import * as Effect from "effect/Effect";
import {
  validateWorktreeInteractive,
  validateWorktreeRun,
  validateWorktreeSandbox,
} from "../../options/checks/entryPoints.ts";
import type { RunResult } from "../../options/results.ts";
import type { WorktreeRunOptions } from "../../options/runOptions.ts";
import type { Worktree } from "../../options/worktree.ts";
import { noSandbox } from "../../sandboxes/no-sandbox.ts";
import { interactiveInWorktree } from "../interactive/interactiveSession.ts";
import { planWorktreeInteractive, withTerminal } from "../plan/planInteractive.ts";
import { planWorktreeSandbox } from "../plan/planLasting.ts";
import { planWorktreeRun } from "../plan/planRun.ts";
import { liveRun } from "../session/liveRun.ts";
import { runInWorktree } from "../session/runSession.ts";
import { withContinuation } from "./continueRun.ts";
import { lastingSandbox } from "./lastingSandbox.ts";
import { type LastingWorktree, openSandboxInWorktree } from "./openLasting.ts";

/** The public object of a long-lived worktree. */
export const lastingWorktree = (worktree: LastingWorktree): Worktree => {
  const { lifecycle, checkout, parentSession, logFilePath } = worktree;
  const run = async <Value>(options: WorktreeRunOptions<Value>): Promise<RunResult<Value>> => {
    const same = { ...options };
    const result = await lifecycle.call(options as WorktreeRunOptions, validateWorktreeRun, (own) =>
      liveRun<Value>(
        planWorktreeRun(own, parentSession).pipe(Effect.flatMap((plan) => runInWorktree(plan, checkout))),
      ),
    );
    return withContinuation(result, same, (again) => run<Value>(again));
  };
  return {
    runId: parentSession.runId,
    branch: checkout.branch ?? "HEAD",
    worktreePath: checkout.path,
    logFilePath,
    warnings: lifecycle.warnings,
    run,
    interactive: (options) =>
      lifecycle.call(options, validateWorktreeInteractive, (own) =>
        withTerminal(
          planWorktreeInteractive({ ...own, sandbox: own.sandbox ?? noSandbox() }, parentSession).pipe(
            Effect.flatMap((plan) => interactiveInWorktree(plan, checkout)),
          ),
        ),
      ),
    createSandbox: (options) =>
      lifecycle.call(options, validateWorktreeSandbox, (own) =>
        planWorktreeSandbox(own, parentSession).pipe(
          Effect.flatMap((plan) => openSandboxInWorktree(plan, worktree)),
          Effect.map(lastingSandbox),
        ),
      ),
    close: () => lifecycle.close(),
    [Symbol.asyncDispose]: () => lifecycle.dispose(),
  };
};
