// The entry points of the package, without the check of their options. They are loaded by the first call: see `enter()`.
import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import type { InteractiveOptions } from "../options/interactiveOptions.ts";
import type { SandboxRunResult } from "../options/results.ts";
import type { RunOptions } from "../options/runOptions.ts";
import type { CreateSandboxOptions } from "../options/sandboxOptions.ts";
import type { CreateWorktreeOptions } from "../options/worktreeOptions.ts";
import { interactiveSession } from "./interactive/interactiveSession.ts";
import { lastingSandbox } from "./lasting/lastingSandbox.ts";
import { lastingWorktree } from "./lasting/lastingWorktree.ts";
import { openLastingSandbox, openLastingWorktree } from "./lasting/openLasting.ts";
import { planInteractive, withTerminal } from "./plan/planInteractive.ts";
import { planCreateSandbox, planCreateWorktree } from "./plan/planLasting.ts";
import { planRun } from "./plan/planRun.ts";
import { liveRun } from "./session/liveRun.ts";
import { runSession } from "./session/runSession.ts";

/** Calls `onBegin` when the run is planned, before anything is created. */
export const run = <Value>(
  options: RunOptions,
  onBegin: () => Promise<void>,
): Effect.Effect<SandboxRunResult<Value>, SandduneError> =>
  liveRun<Value>(
    planRun(options).pipe(
      Effect.tap(() => Effect.promise(onBegin)),
      Effect.flatMap(runSession),
    ),
  );

export const interactive = (options: InteractiveOptions) =>
  withTerminal(planInteractive(options).pipe(Effect.flatMap(interactiveSession)));

export const createSandbox = (options: CreateSandboxOptions) =>
  planCreateSandbox(options).pipe(Effect.flatMap(openLastingSandbox), Effect.map(lastingSandbox));

export const createWorktree = (options: CreateWorktreeOptions) =>
  planCreateWorktree(options).pipe(Effect.flatMap(openLastingWorktree), Effect.map(lastingWorktree));
