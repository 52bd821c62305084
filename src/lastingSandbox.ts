import * as Effect from "effect/Effect";
import { execInSandbox } from "./engine/execInSandbox.ts";
import { interactiveInSandbox } from "./engine/interactiveSession.ts";
import type { LastingSandbox } from "./engine/lasting.ts";
import { liveRun } from "./engine/liveRun.ts";
import { planSandboxInteractive, withTerminal } from "./engine/planInteractive.ts";
import { planSandboxRun } from "./engine/planRun.ts";
import { runInSandbox } from "./engine/runSession.ts";
import { validateExec, validateSandboxInteractive, validateSandboxRun } from "./engine/validateOptions.ts";
import type { SandboxRunOptions } from "./runOptions.ts";
import type { Sandbox } from "./sandbox.ts";

/** What the caller gets of a sandbox that lasts, whoever owns its worktree. */
export const lastingSandbox = ({
  lifecycle,
  sandbox,
  surroundings,
  logFilePath,
}: LastingSandbox): Sandbox => ({
  runId: surroundings.runId,
  branch: sandbox.checkout.branch ?? "HEAD",
  worktreePath: sandbox.checkout.path,
  logFilePath,
  warnings: lifecycle.warnings,
  run: <Value>(options: SandboxRunOptions<Value>) =>
    lifecycle.call(options as SandboxRunOptions, validateSandboxRun, (own) =>
      liveRun<Value>(
        planSandboxRun(own, surroundings, sandbox.environment).pipe(
          Effect.flatMap((plan) => runInSandbox(plan, sandbox)),
        ),
      ),
    ),
  exec: (command, options = {}) =>
    lifecycle.call(
      options,
      (own) => validateExec(command, own),
      (own) => execInSandbox(sandbox, surroundings, command, own),
    ),
  interactive: (options) =>
    lifecycle.call(options, validateSandboxInteractive, (own) =>
      withTerminal(
        planSandboxInteractive(own, surroundings).pipe(
          Effect.flatMap((plan) => interactiveInSandbox(plan, sandbox)),
        ),
      ),
    ),
  close: () => lifecycle.close(),
  [Symbol.asyncDispose]: () => lifecycle.dispose(),
});
