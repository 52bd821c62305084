import { EXIT_BAD_USAGE, exitCodeOf } from "../shared/exitCodes.ts";
import { reportError } from "../shared/reportError.ts";
import { StoppedError, type StopWords, stopOnSignals } from "../shared/stopSignals.ts";

/** What commands for environments have in common. */
interface CommonFlags {
  readonly json?: boolean;
}

/**
 * Makes the action of a command for environments of what does its work. Whatever is wrong is told, and is no verdict on what
 * is tested: exit code 2. A signal to this process ends the work, which has ended what it had started when it rejects.
 */
export const performingEnv =
  <Arguments extends readonly unknown[], Flags extends object>(
    words: StopWords,
    work: (signal: AbortSignal, flags: Flags, ...args: Arguments) => Promise<void>,
  ) =>
  async (...given: unknown[]): Promise<void> => {
    // The parser hands over the arguments, then the flags, then the command.
    const flags = given.at(-2) as Flags & CommonFlags;
    using stop = stopOnSignals(words);
    try {
      await work(stop.signal, flags, ...(given.slice(0, -2) as unknown as Arguments));
    } catch (error) {
      await reportError(error, { json: flags.json ?? false, isShown: false });
      process.exitCode = error instanceof StoppedError ? exitCodeOf(error) : EXIT_BAD_USAGE;
    }
  };
