import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { InternalError } from "../errors.ts";

/**
 * Where Effect ends and promises begin. Failures become the exported error classes, an abort becomes the caller's own
 * `signal.reason`, and anything that nobody foresaw becomes an `InternalError`.
 */
export const runAtBoundary = async <A, E>(effect: Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> => {
  if (signal?.aborted) throw signal.reason;
  const exit = await Effect.runPromiseExit(effect, signal && { signal });
  if (exit._tag === "Success") return exit.value;
  if (signal?.aborted && Cause.hasInterrupts(exit.cause)) throw signal.reason;
  const failure = Cause.findErrorOption(exit.cause);
  throw Option.isSome(failure) ? failure.value : new InternalError({ cause: Cause.squash(exit.cause) });
};
