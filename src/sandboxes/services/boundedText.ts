/** Reads a small file of a sandbox, whose content may be anybody's: more than `maxBytes` are not taken. */
export const boundedText = async (content: AsyncIterable<unknown>, maxBytes: number): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    const data = typeof piece === "string" ? Buffer.from(piece) : (piece as Uint8Array);
    bytes += data.length;
    // Leaving the loop ends the stream as well.
    if (bytes > maxBytes) throw new Error(`a file of the sandbox has more than ${maxBytes} bytes`);
    pieces.push(data);
  }
  return Buffer.concat(pieces).toString();
};
