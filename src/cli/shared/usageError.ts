/** The command line cannot be carried out as it is. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
