import { EXIT_BAD_USAGE, exitCodeOf } from "../shared/exitCodes.ts";
import { reportError } from "../shared/reportError.ts";
import { StoppedError, type StopWords, stopOnSignals } from "../shared/stopSignals.ts";

/** The flags of every command for environments. */
interface CommonFlags {
  readonly json?: boolean;
}

/**
 * The action of a command for environments. It reports every failure with exit code 2, because a failure is not a test
 * result. A signal to this process aborts the work, which cleans up before it rejects.
 */
export const performingEnv =
  <Arguments extends readonly unknown[], Flags extends object>(
    words: StopWords,
    work: (signal: AbortSignal, flags: Flags, ...args: Arguments) => Promise<void>,
  ) =>
  async (...given: unknown[]): Promise<void> => {
    // The parser passes the arguments, then the flags, then the command.
    const flags = given.at(-2) as Flags & CommonFlags;
    using stop = stopOnSignals(words);
    try {
      await work(stop.signal, flags, ...(given.slice(0, -2) as unknown as Arguments));
    } catch (error) {
      await reportError(error, { json: flags.json ?? false, isShown: false });
      process.exitCode = error instanceof StoppedError ? exitCodeOf(error) : EXIT_BAD_USAGE;
    }
  };
