import { reportError } from "./reportError.ts";

/** The flags of every command. */
interface CommonFlags {
  readonly json?: boolean;
}

/**
 * The action of a command: does its work, reports a failure as text or JSON, and sets the exit code. The work may set
 * `process.exitCode` itself when it has found a problem without failing.
 */
export const performing =
  <Arguments extends readonly unknown[], Flags extends object>(
    work: (flags: Flags, ...args: Arguments) => Promise<void>,
  ) =>
  async (...given: unknown[]): Promise<void> => {
    // The parser passes the arguments, then the flags, then the command.
    const flags = given.at(-2) as Flags & CommonFlags;
    try {
      await work(flags, ...(given.slice(0, -2) as unknown as Arguments));
    } catch (error) {
      process.exitCode = await reportError(error, { json: flags.json ?? false, isShown: false });
    }
  };
