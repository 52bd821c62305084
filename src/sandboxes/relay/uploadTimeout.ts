/** A slow line, shared by many runs. Slower uploads count as dead. */
const BYTES_PER_MS = 16;

/** How long writing files may take. The limit grows with their size. */
export const uploadTimeoutMs = (
  files: readonly { readonly data: Uint8Array }[],
  requestTimeoutMs: number,
): number => {
  const bytes = files.reduce((sum, { data }) => sum + data.length, 0);
  return requestTimeoutMs + Math.ceil(bytes / BYTES_PER_MS);
};
