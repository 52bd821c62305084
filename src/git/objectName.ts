/** The name of a git object: SHA-1, or SHA-256 in a repository of that format. */
export const isObjectName = (value: unknown): value is string =>
  typeof value === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
