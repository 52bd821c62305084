import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { asHostFileError } from "../../boundary/hostFileErrors.ts";
import type { HostFileError } from "../../errors.ts";

/** A full or read-only disk is not a bug: what the file system throws anywhere in a step becomes a typed error. */
export const withHostFileErrors = <A, E, R>(
  step: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | HostFileError, R> =>
  Effect.catchCause(step, (cause): Effect.Effect<never, E | HostFileError> => {
    // The first error, or an abort, is what the caller needs to know; a file error during clean-up is not.
    const isFirst = !Cause.hasFails(cause) && !Cause.hasInterrupts(cause);
    const error = isFirst ? asHostFileError(Cause.squash(cause)) : undefined;
    return error === undefined ? Effect.failCause(cause) : Effect.fail(error);
  });
