import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { HookFailedError, ProcessTimeoutError, type SandduneError } from "../../errors.ts";
import type { HostHook } from "../../options/hooks.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import type { ExecResult } from "../../sandboxes/contract.ts";

const DEFAULT_TIMEOUT_MS = 60_000;
/** Enough of a hook's output to explain a failure. `onLine` gets all of it. */
const CAPTURE_BYTES = 64 * 1024;

export type HookName = "host.onWorktreeReady" | "host.onSandboxReady" | "sandbox.onSandboxReady";

/** Where the output of hooks goes. */
export interface HookOutput {
  readonly onLine: (hook: HookName, line: string) => void;
  readonly redactor: Redactor;
}

/** Runs the hooks of one list, on the host or in the sandbox. */
export interface HookRunner<Hook> {
  readonly name: HookName;
  readonly run: (
    hook: Hook,
    options: {
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
      readonly captureBytes: number;
      readonly onLine: (line: string) => void;
    },
  ) => Promise<ExecResult>;
}

const runHook = <Hook extends HostHook>(
  { name, run }: HookRunner<Hook>,
  hook: Hook,
  output: HookOutput,
): Effect.Effect<void, SandduneError> => {
  const { command, timeoutMs = DEFAULT_TIMEOUT_MS } = hook;
  const { redactor } = output;
  const failure = (problem: string, { stdout = "", stderr = "", exitCode }: Partial<ExecResult>) =>
    new HookFailedError(
      name,
      command,
      problem,
      exitCode,
      redactor.capturedEnd(stdout, CAPTURE_BYTES),
      redactor.capturedEnd(stderr, CAPTURE_BYTES),
    );
  const onLine = (line: string) => output.onLine(name, line);
  return interruptible((signal) =>
    run(hook, { timeoutMs, signal, captureBytes: CAPTURE_BYTES, onLine }),
  ).pipe(
    Effect.mapError((error) =>
      error instanceof ProcessTimeoutError
        ? failure(`took longer than ${timeoutMs} ms and was stopped (see its \`timeoutMs\`)`, {
            stdout: error.stdout,
            stderr: error.stderr,
          })
        : error,
    ),
    Effect.flatMap((result) =>
      result.exitCode === 0
        ? Effect.void
        : Effect.fail(failure(`ended with exit code ${result.exitCode}`, result)),
    ),
  );
};

/** Runs the hooks of a list one after the other, up to the first failure. */
export const runHooks = <Hook extends HostHook>(
  place: HookRunner<Hook>,
  hooks: readonly Hook[],
  output: HookOutput,
): Effect.Effect<void, SandduneError> =>
  Effect.forEach(hooks, (hook) => runHook(place, hook, output), { discard: true });
