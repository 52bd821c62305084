/** Deeper causes help no one. */
const MAX_CAUSES = 10;

/**
 * The stack of an error and of its causes. Secrets in errors of a run have been redacted, also in stacks and causes. Fields
 * of errors and the environment are not shown.
 */
export const debugLines = (error: unknown): string[] => {
  const lines: string[] = [];
  const seen = new Set<unknown>();
  for (let cause = error; cause !== undefined && !seen.has(cause) && seen.size < MAX_CAUSES; ) {
    const stack = cause instanceof Error ? (cause.stack ?? `${cause.name}: ${cause.message}`) : String(cause);
    lines.push(seen.size === 0 ? stack : `Caused by: ${stack}`);
    seen.add(cause);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines;
};
