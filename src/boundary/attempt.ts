import * as Effect from "effect/Effect";
import { SandduneError } from "../errors.ts";
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
