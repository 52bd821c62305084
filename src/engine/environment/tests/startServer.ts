import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { failOrDie } from "../../../boundary/failures.ts";
import { EnvironmentStartError, SandboxLostError, type SandduneError } from "../../../errors.ts";
import type { SandboxHandle } from "../../../sandboxes/contract.ts";
import { runTool, type ToolMessage, type ToolRun, textOf } from "./toolProgram.ts";

export interface ServerStart extends Omit<ToolRun, "onMessage" | "signal"> {
  /** How long it may take to be ready, once `beginning` has succeeded. */
  readonly timeoutMs: number;
  /** The server needs this first. Its failure is reported elsewhere. */
  readonly beginning?: Effect.Effect<void>;
  /** Gets what it does until it is ready, in sentences. */
  readonly onProgress: (sentence: string) => void;
  /** Gets everything else that it says. */
  readonly onMessage?: (message: ToolMessage) => void;
  /** It has ended although nobody wanted it to. */
  readonly onEnd: (problem: string) => void;
}

export const notReadyWithin = (timeoutMs: number): string => `it was not ready within ${timeoutMs} ms`;

/** What was last said tells most about a server that did not come up. */
const LAST_WORDS = 20;

/**
 * Starts a server in a sandbox, and waits until it says that it is ready, and what its address is in there. It is ended, with
 * everything that it has started, when the scope is closed.
 */
export const startServer = Effect.fnUntraced(function* (
  handle: SandboxHandle,
  { timeoutMs, beginning = Effect.void, onProgress, onMessage, onEnd, ...run }: ServerStart,
): Effect.fn.Return<string, SandduneError, Scope.Scope> {
  const stop = new AbortController();
  const ready = yield* Deferred.make<string, SandduneError>();
  const said: string[] = [];
  const over = runTool(handle, {
    ...run,
    signal: stop.signal,
    onMessage: (message) => {
      if (message.type === "ready") Deferred.doneUnsafe(ready, Effect.succeed(textOf(message.url)));
      else if (message.type === "progress") {
        said.push(textOf(message.message));
        onProgress(textOf(message.message));
      } else onMessage?.(message);
    },
  }).then(
    () => new EnvironmentStartError("the test server ended by itself", said.slice(-LAST_WORDS).join("\n")),
    (reason: unknown) => reason,
  );
  const watched = over.then((reason) => {
    const isFirst = Deferred.doneUnsafe(ready, failOrDie(reason));
    // With the sandbox it has to end, and whoever needs that will notice.
    const isExpected = stop.signal.aborted || reason instanceof SandboxLostError;
    if (!isFirst && !isExpected) onEnd(reason instanceof Error ? reason.message : String(reason));
  });
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => {
      stop.abort();
      return watched;
    }),
  );
  const limit = beginning.pipe(
    Effect.andThen(Effect.sleep(timeoutMs)),
    Effect.flatMap(() =>
      Effect.fail(new EnvironmentStartError(notReadyWithin(timeoutMs), said.slice(-LAST_WORDS).join("\n"))),
    ),
  );
  return yield* Effect.raceFirst(Deferred.await(ready), limit);
});
