/** A cause of a cause of a cause tells nobody anything. */
const MAX_CAUSES = 10;

/**
 * The stack of an error and of its causes. Of a run's errors the secrets have been redacted, in their stacks and causes
 * as well. Their fields, and the environment, are not shown.
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
