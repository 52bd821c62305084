/** The message of anything that was thrown. */
export const messageOf = (reason: unknown): string =>
  reason instanceof Error ? reason.message : String(reason);
