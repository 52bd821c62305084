import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { SandboxHandle, SandboxProvider } from "../../sandboxes/contract.ts";
import { openHandle } from "../../sandboxes/handle/openHandle.ts";
import { inTime, TimeLimitError } from "../../tools/wait/timeLimit.ts";
import type { Session } from "../session/session.ts";

const CLOSE_TIMEOUT_MS = 60_000;

/** A sandbox that was lost. */
export interface SandboxLoss {
  readonly runId: string;
  /** The agent's last work was not imported, and may still be in the sandbox. */
  mayHoldWork: boolean;
}

/** Closes a sandbox. If it may have the only copy of some work, it stays until its lease ends. */
const end = async (handle: SandboxHandle, loss: SandboxLoss | undefined): Promise<string | undefined> => {
  if (loss?.mayHoldWork && (await handle.leave?.())) {
    return `The sandbox ${handle.name} was not closed, because it may have work that could not be imported. To import it: ${sandduneCommand("rescue", loss.runId)}. The sandbox ends by itself when its lease expires.`;
  }
  await handle.close();
  return undefined;
};

/** Closes a sandbox within a time limit. Resolves with the problem, if there is one. */
const endInTime = (handle: SandboxHandle, loss: SandboxLoss | undefined): Promise<string | undefined> =>
  inTime(() => end(handle, loss), { timeoutMs: CLOSE_TIMEOUT_MS }).catch((error: Error) =>
    error instanceof TimeLimitError
      ? `The sandbox ${handle.name} did not close within ${CLOSE_TIMEOUT_MS} ms.`
      : error.message,
  );

interface Closing {
  readonly loss?: SandboxLoss;
  /** Called if the sandbox could not be closed: its processes may still be at work. */
  readonly onSurvival?: () => void;
}

/** Creates a sandbox. The scope closes it, even if it started only after the run was interrupted. */
export const acquireSandbox = Effect.fnUntraced(function* <Handle extends SandboxHandle>(
  { journal, display, progress }: Session,
  provider: SandboxProvider,
  sandboxName: string,
  create: (signal: AbortSignal) => Promise<Handle>,
  { loss, onSurvival }: Closing = {},
): Effect.fn.Return<Handle, SandduneError, Scope.Scope> {
  let handle: Handle | undefined;
  journal.write({ type: "creating", what: "sandbox", name: sandboxName });
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      // If the creation failed, the sandbox may still exist, so the journal keeps its name.
      if (handle === undefined) return;
      const endStep = display.step(`Closing the ${provider.name} sandbox`);
      const problem = await endInTime(handle, loss);
      endStep();
      if (problem === undefined) journal.tell({ type: "removed", what: "sandbox", name: sandboxName });
      else {
        progress.warn(problem);
        onSurvival?.();
      }
    }),
  );
  return yield* interruptible(async (signal) => {
    handle = await openHandle(provider, () => create(signal), signal);
    return handle;
  });
});
