import * as Effect from "effect/Effect";
import {
  validateExec,
  validateFork,
  validateSandboxInteractive,
  validateSandboxRun,
} from "../../options/checks/entryPoints.ts";
import type { SandboxRunOptions } from "../../options/runOptions.ts";
import type { Sandbox } from "../../options/sandbox.ts";
import { interactiveInSandbox } from "../interactive/interactiveSession.ts";
import { planSandboxInteractive, withTerminal } from "../plan/planInteractive.ts";
import { planSandboxRun } from "../plan/planRun.ts";
import { execInSandbox } from "../sandbox/execInSandbox.ts";
import { liveRun } from "../session/liveRun.ts";
import { runInSandbox } from "../session/runSession.ts";
import { forkSandbox } from "./forkSandbox.ts";
import type { LastingSandbox } from "./openLasting.ts";

/** The public object of a long-lived sandbox. */
export const lastingSandbox = (lasting: LastingSandbox): Sandbox => {
  const { lifecycle, sandbox, parentSession, logFilePath } = lasting;
  return {
    runId: parentSession.runId,
    branch: sandbox.checkout.branch ?? "HEAD",
    worktreePath: sandbox.checkout.path,
    logFilePath,
    warnings: lifecycle.warnings,
    run: <Value>(options: SandboxRunOptions<Value>) =>
      lifecycle.call(options as SandboxRunOptions, validateSandboxRun, (own) =>
        liveRun<Value>(
          planSandboxRun(own, parentSession, sandbox.environment).pipe(
            Effect.flatMap((plan) => runInSandbox(plan, sandbox)),
          ),
        ),
      ),
    exec: (command, options = {}) =>
      lifecycle.call(
        options,
        (own) => validateExec(command, own),
        (own) => execInSandbox(sandbox, parentSession, command, own),
      ),
    interactive: (options) =>
      lifecycle.call(options, validateSandboxInteractive, (own) =>
        withTerminal(
          planSandboxInteractive(own, parentSession).pipe(
            Effect.flatMap((plan) => interactiveInSandbox(plan, sandbox)),
          ),
        ),
      ),
    fork: (count, options = {}) =>
      lifecycle.call(
        options,
        (own) => validateFork(count, own),
        (own) => Effect.map(forkSandbox(lasting, count, own), (forks) => forks.map(lastingSandbox)),
      ),
    close: () => lifecycle.close(),
    [Symbol.asyncDispose]: () => lifecycle.dispose(),
  };
};
