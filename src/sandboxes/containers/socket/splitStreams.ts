/** A header of 8 bytes precedes each piece: the number of its stream, three zeros, and its length. */
const HEADER_BYTES = 8;
const STDERR = 2;

/** Separates the output streams that an engine sends through one connection. A piece may arrive in any number of chunks. */
export const splitStreams = (
  onStdout: (chunk: Buffer) => void,
  onStderr: (chunk: Buffer) => void,
): ((chunk: Buffer) => void) => {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left === 0) {
        const copied = chunk.copy(header, headerBytes, at, at + HEADER_BYTES - headerBytes);
        at += copied;
        headerBytes += copied;
        if (headerBytes < HEADER_BYTES) return;
        headerBytes = 0;
        left = header.readUInt32BE(4);
        continue;
      }
      const piece = chunk.subarray(at, at + left);
      at += piece.length;
      left -= piece.length;
      (header[0] === STDERR ? onStderr : onStdout)(piece);
    }
  };
};
