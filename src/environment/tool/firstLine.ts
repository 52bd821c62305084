import type { Readable } from "node:stream";

const NEWLINE = 0x0a;

/** The first line of a stream, or everything if it has no line end. The rest stays in the stream. */
export const firstLine = (input: Readable): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const finish = () => {
      input.off("readable", read).off("end", finish).off("error", finish);
      resolve(Buffer.concat(chunks).toString());
    };
    const read = () => {
      for (let chunk: Buffer | null = input.read(); chunk !== null; chunk = input.read()) {
        const end = chunk.indexOf(NEWLINE);
        chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
        if (end === -1) continue;
        input.unshift(chunk.subarray(end + 1));
        finish();
        return;
      }
    };
    input.on("readable", read).once("end", finish).once("error", finish);
  });
