/** Deeper causes help no one. */
const MAX_CAUSES = 10;

/** The redacted stacks of an error and its causes, without fields of errors and the environment. */
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
