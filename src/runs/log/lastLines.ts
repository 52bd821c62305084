import type { FileHandle } from "node:fs/promises";

const CHUNK_BYTES = 64 * 1024;
const LINE_END = "\n".charCodeAt(0);

/** The offset of the last `count` lines of a file. A newline at its end begins no further line. */
export const startOfLastLines = async (file: FileHandle, count: number): Promise<number> => {
  const { size } = await file.stat();
  if (count === 0) return size;
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let left = count;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const { bytesRead } = await file.read(buffer, 0, end - start, start);
    for (let index = bytesRead - 1; index >= 0; index--) {
      const isInnerEnd = buffer[index] === LINE_END && start + index < size - 1;
      if (isInnerEnd && --left === 0) return start + index + 1;
    }
    end = start;
  }
  return 0;
};
