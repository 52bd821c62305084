import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { failOrDie } from "../../../boundary/failures.ts";
import { EnvironmentStartError, SandboxLostError, type SandduneError } from "../../../errors.ts";
import type { SandboxHandle } from "../../../sandboxes/contract.ts";
import { messageOf } from "../../../tools/messageOf.ts";
import { runTool, type ToolMessage, type ToolRun, textOf } from "./toolProgram.ts";

export interface ServerStart extends Omit<ToolRun, "onMessage" | "signal"> {
  /** The time limit for the server to become ready, after `beginning` has succeeded. */
  readonly timeoutMs: number;
  /** Must succeed first. Its failure is reported elsewhere. */
  readonly beginning?: Effect.Effect<void>;
  /** Called with sentences about the progress of the start. */
  readonly onProgress: (sentence: string) => void;
  /** Called with all other messages. */
  readonly onMessage?: (message: ToolMessage) => void;
  /** Called if the server ends unexpectedly. */
  readonly onEnd: (problem: string) => void;
}

export const notReadyWithin = (timeoutMs: number): string => `it was not ready within ${timeoutMs} ms`;

/** The number of lines that explain a server which did not start. */
const LAST_WORDS = 20;

/** Starts a server and waits for its address. The scope ends it and all its processes. */
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
    // The server ends with a lost sandbox, which is reported elsewhere.
    const isExpected = stop.signal.aborted || reason instanceof SandboxLostError;
    if (!isFirst && !isExpected) onEnd(messageOf(reason));
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
