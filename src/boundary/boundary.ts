import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { SandduneError } from "../errors.ts";
import { LinkedController } from "../tools/wait/linkedController.ts";
import { asSandduneError } from "./hostFileErrors.ts";

/** An error that a callback of the caller threw: the caller gets it back unchanged. */
export class CallerFailure {
  constructor(readonly reason: unknown) {}
}

const callerFailure = (cause: Cause.Cause<unknown>): CallerFailure | undefined =>
  cause.reasons
    .map((reason) => (Cause.isFailReason(reason) ? reason.error : undefined))
    .find((error) => error instanceof CallerFailure);

/** The first `SandduneError` of a cause. It may be a defect, if something threw during clean-up. */
const knownError = (cause: Cause.Cause<unknown>): SandduneError | undefined =>
  cause.reasons
    .map((reason) => {
      if (Cause.isFailReason(reason)) return reason.error;
      return Cause.isDieReason(reason) ? reason.defect : undefined;
    })
    .find((error) => error instanceof SandduneError);

/**
 * Runs an effect as a promise. It rejects with an exported error class; an abort rejects with the caller's own
 * `signal.reason`, a failed file operation with a `HostFileError`, and anything else with an `InternalError`.
 */
export const runAtBoundary = async <A, E>(effect: Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> => {
  if (signal?.aborted) throw signal.reason;
  using controller = new LinkedController(signal);
  const exit = await Effect.runPromiseExit(effect, { signal: controller.signal });
  if (exit._tag === "Success") return exit.value;
  if (signal?.aborted && Cause.hasInterrupts(exit.cause)) throw signal.reason;
  const callers = callerFailure(exit.cause);
  if (callers !== undefined) throw callers.reason;
  throw knownError(exit.cause) ?? asSandduneError(Cause.squash(exit.cause));
};

/** Like `runAtBoundary()`, for an effect whose construction may throw. */
export const performAtBoundary = <A, E>(
  perform: () => Effect.Effect<A, E>,
  signal?: AbortSignal,
): Promise<A> => runAtBoundary(Effect.suspend(perform), signal);
