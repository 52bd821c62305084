import { resolve } from "node:path";
import type * as Effect from "effect/Effect";
import { callerOf, namingCaller } from "./callersStack.ts";
import { asSandduneError } from "./hostFileErrors.ts";

/** Loads the implementation of an entry point. */
type Load<A, Options> = () => Promise<(options: Options) => Effect.Effect<A, unknown>>;

/** The options that all entry points have. */
interface EntryOptions {
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The caller may change its options, and its current directory, while the engine is loaded. */
const ownOptions = <Options extends EntryOptions>(options: Options): Options => ({
  ...options,
  cwd: resolve(options.cwd ?? "."),
});

/**
 * Runs an entry point: checks the options first, and aborts with their signal.
 *
 * The first call loads the engine and Effect, which are most of the package. A program that imports sanddune and calls it
 * later, or never, does not wait for them when it starts.
 */
export const enter = <A, Options extends EntryOptions>(
  options: Options,
  validate: (options: Options) => void,
  load: Load<A, Options>,
): Promise<A> =>
  namingCaller(callerOf(enter), async () => {
    // The check refuses any other value.
    const signal = options?.signal instanceof AbortSignal ? options.signal : undefined;
    if (signal?.aborted) throw signal.reason;
    let own: Options;
    try {
      validate(options);
      own = ownOptions(options);
    } catch (reason) {
      throw asSandduneError(reason);
    }
    const [{ performAtBoundary }, perform] = await Promise.all([import("./boundary.ts"), load()]);
    return performAtBoundary(() => perform(own), signal);
  });
