import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { type HostFileError, SandduneError } from "../errors.ts";
import { asHostFileError } from "./hostFileErrors.ts";

/** Fails with a `SandduneError` or an error of the file system; anything else that was thrown is a defect. */
export const failOrDie = (reason: unknown): Effect.Effect<never, SandduneError> => {
  const error = reason instanceof SandduneError ? reason : asHostFileError(reason);
  return error === undefined ? Effect.die(reason) : Effect.fail(error);
};

/** Calls a function that may throw a `SandduneError`. */
export const attempt = <A>(body: () => A): Effect.Effect<A, SandduneError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(body());
    } catch (reason) {
      return failOrDie(reason);
    }
  });

/** A full or read-only disk is not a bug: a file operation that throws anywhere in a step makes it fail. */
export const withHostFileErrors = <A, E, R>(
  step: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | HostFileError, R> =>
  Effect.catchCause(step, (cause): Effect.Effect<never, E | HostFileError> => {
    // The first error, or an abort, is what the caller needs to know; a file error during clean-up is not.
    const isFirst = !Cause.hasFails(cause) && !Cause.hasInterrupts(cause);
    const error = isFirst ? asHostFileError(Cause.squash(cause)) : undefined;
    return error === undefined ? Effect.failCause(cause) : Effect.fail(error);
  });
