/** The command line is not valid. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
