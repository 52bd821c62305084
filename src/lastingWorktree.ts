import * as Effect from "effect/Effect";
import { interactiveInWorktree } from "./engine/interactiveSession.ts";
import { type LastingWorktree, openSandboxInWorktree } from "./engine/lasting.ts";
import { liveRun } from "./engine/liveRun.ts";
import { planWorktreeInteractive, withTerminal } from "./engine/planInteractive.ts";
import { planWorktreeSandbox } from "./engine/planLasting.ts";
import { planWorktreeRun } from "./engine/planRun.ts";
import { runInWorktree } from "./engine/runSession.ts";
import {
  validateWorktreeInteractive,
  validateWorktreeRun,
  validateWorktreeSandbox,
} from "./engine/validateOptions.ts";
import { withGoingOn } from "./goOn.ts";
import { lastingSandbox } from "./lastingSandbox.ts";
import type { RunResult } from "./results.ts";
import type { WorktreeRunOptions } from "./runOptions.ts";
import { noSandbox } from "./sandboxes/no-sandbox.ts";
import type { Worktree } from "./worktree.ts";

/** What the caller gets of a worktree that lasts. */
export const lastingWorktree = (worktree: LastingWorktree): Worktree => {
  const { lifecycle, checkout, surroundings, logFilePath } = worktree;
  const run = async <Value>(options: WorktreeRunOptions<Value>): Promise<RunResult<Value>> => {
    const same = { ...options };
    const result = await lifecycle.call(options as WorktreeRunOptions, validateWorktreeRun, (own) =>
      liveRun<Value>(
        planWorktreeRun(own, surroundings).pipe(Effect.flatMap((plan) => runInWorktree(plan, checkout))),
      ),
    );
    return withGoingOn(result, same, (again) => run<Value>(again));
  };
  return {
    runId: surroundings.runId,
    branch: checkout.branch ?? "HEAD",
    worktreePath: checkout.path,
    logFilePath,
    warnings: lifecycle.warnings,
    run,
    interactive: (options) =>
      lifecycle.call(options, validateWorktreeInteractive, (own) =>
        withTerminal(
          planWorktreeInteractive({ ...own, sandbox: own.sandbox ?? noSandbox() }, surroundings).pipe(
            Effect.flatMap((plan) => interactiveInWorktree(plan, checkout)),
          ),
        ),
      ),
    createSandbox: (options) =>
      lifecycle.call(options, validateWorktreeSandbox, (own) =>
        planWorktreeSandbox(own, surroundings).pipe(
          Effect.flatMap((plan) => openSandboxInWorktree(plan, worktree)),
          Effect.map(lastingSandbox),
        ),
      ),
    close: () => lifecycle.close(),
    [Symbol.asyncDispose]: () => lifecycle.dispose(),
  };
};
