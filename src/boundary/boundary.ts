import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { InternalError, SandduneError } from "../errors.ts";
import { LinkedController } from "../tools/wait/linkedController.ts";
import { callerOf, namingCaller } from "./callersStack.ts";
import { asHostFileError } from "./hostFileErrors.ts";

/** What a callback of the caller's has thrown: the caller gets it back as it was. */
export class CallerFailure {
  constructor(readonly reason: unknown) {}
}

const callerFailure = (cause: Cause.Cause<unknown>): CallerFailure | undefined =>
  cause.reasons
    .map((reason) => (Cause.isFailReason(reason) ? reason.error : undefined))
    .find((error) => error instanceof CallerFailure);

/** The first error of ours in a cause. Something that threw while the run was tidied up can have made a defect of it. */
const knownError = (cause: Cause.Cause<unknown>): SandduneError | undefined =>
  cause.reasons
    .map((reason) => {
      if (Cause.isFailReason(reason)) return reason.error;
      return Cause.isDieReason(reason) ? reason.defect : undefined;
    })
    .find((error) => error instanceof SandduneError);

/**
 * Where Effect ends and promises begin. Failures become the exported error classes, an abort becomes the caller's own
 * `signal.reason`, a failed file operation becomes a `HostFileError`, and anything else becomes an `InternalError`.
 */
export const runAtBoundary = async <A, E>(effect: Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> => {
  if (signal?.aborted) throw signal.reason;
  using controller = new LinkedController(signal);
  const exit = await Effect.runPromiseExit(effect, { signal: controller.signal });
  if (exit._tag === "Success") return exit.value;
  if (signal?.aborted && Cause.hasInterrupts(exit.cause)) throw signal.reason;
  const callers = callerFailure(exit.cause);
  if (callers !== undefined) throw callers.reason;
  const cause = Cause.squash(exit.cause);
  throw knownError(exit.cause) ?? asHostFileError(cause) ?? new InternalError({ cause });
};

/** Begins an entry point: the options are checked first, and their signal ends everything. */
export const enter = <A, Options extends { readonly signal?: AbortSignal | undefined }>(
  options: Options,
  validate: (options: Options) => void,
  perform: (options: Options) => Effect.Effect<A, unknown>,
): Promise<A> =>
  namingCaller(callerOf(enter), () =>
    runAtBoundary(
      Effect.suspend(() => {
        validate(options);
        return perform(options);
      }),
      // Anything else is refused by the check.
      options?.signal instanceof AbortSignal ? options.signal : undefined,
    ),
  );
