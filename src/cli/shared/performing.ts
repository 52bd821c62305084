import { reportError } from "./reportError.ts";

/** What commands have in common. */
interface CommonFlags {
  readonly json?: boolean;
}

/**
 * Makes the action of a command of what does its work: a failure is told, in the form that was asked for, and sets the
 * exit code. The work may set `process.exitCode` itself when it has found something wrong without failing.
 */
export const performing =
  <Arguments extends readonly unknown[], Flags extends object>(
    work: (flags: Flags, ...args: Arguments) => Promise<void>,
  ) =>
  async (...given: unknown[]): Promise<void> => {
    // The parser hands over the arguments, then the flags, then the command.
    const flags = given.at(-2) as Flags & CommonFlags;
    try {
      await work(flags, ...(given.slice(0, -2) as unknown as Arguments));
    } catch (error) {
      process.exitCode = await reportError(error, { json: flags.json ?? false, isShown: false });
    }
  };
