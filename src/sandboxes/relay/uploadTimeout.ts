/** A slow line, shared by many runs: whoever is slower than this is taken to be gone. */
const BYTES_PER_MS = 16;

/** How long writing files may take. What is waited for grows with what is sent: a fixed time would be a fixed speed. */
export const uploadTimeoutMs = (
  files: readonly { readonly data: Uint8Array }[],
  requestTimeoutMs: number,
): number => {
  const bytes = files.reduce((sum, { data }) => sum + data.length, 0);
  return requestTimeoutMs + Math.ceil(bytes / BYTES_PER_MS);
};
