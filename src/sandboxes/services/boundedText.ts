/** Reads a small file of a sandbox. Its content is untrusted: rejects if it has more than `maxBytes`. */
export const boundedText = async (content: AsyncIterable<unknown>, maxBytes: number): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    const data = typeof piece === "string" ? Buffer.from(piece) : (piece as Uint8Array);
    bytes += data.length;
    // Leaving the loop ends the stream as well.
    if (bytes > maxBytes) throw new Error(`a file in the sandbox has more than ${maxBytes} bytes`);
    pieces.push(data);
  }
  return Buffer.concat(pieces).toString();
};
