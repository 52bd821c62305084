import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { type HostFileError, SandduneError } from "../errors.ts";
import { asHostFileError } from "./hostFileErrors.ts";

/** What was thrown, in Effect's terms: an error of ours, or of the file system, is a failure; anything else is a defect. */
export const failOrDie = (reason: unknown): Effect.Effect<never, SandduneError> => {
  const error = reason instanceof SandduneError ? reason : asHostFileError(reason);
  return error === undefined ? Effect.die(reason) : Effect.fail(error);
};

/** Calls a function that throws errors of ours. */
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
