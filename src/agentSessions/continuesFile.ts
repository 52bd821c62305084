import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { AgentSessions } from "../agents/contract.ts";
import { MAX_RECORD_LENGTH } from "./limits.ts";

const beginsWith = async (
  longer: AsyncIterator<Buffer>,
  shorter: AsyncIterable<Buffer>,
): Promise<boolean> => {
  let rest = Buffer.alloc(0);
  for await (const chunk of shorter) {
    while (rest.length < chunk.length) {
      const { value, done } = await longer.next();
      if (done) return false;
      rest = Buffer.concat([rest, value]);
    }
    if (!rest.subarray(0, chunk.length).equals(chunk)) return false;
    rest = rest.subarray(chunk.length);
  }
  return true;
};

const isPrefix = async (shorter: string, longer: string, signal: AbortSignal): Promise<boolean> => {
  const { size } = await stat(shorter);
  if (size > (await stat(longer)).size) return false;
  if (size === 0) return true;
  const stream = createReadStream(longer, { end: size - 1, signal });
  try {
    return await beginsWith(stream[Symbol.asyncIterator](), createReadStream(shorter, { signal }));
  } finally {
    stream.destroy();
  }
};

/** Whether a session's file continues another one, so that it can replace it without loss. */
export const continuesFile = async (
  sessions: AgentSessions,
  before: string,
  after: string,
  signal: AbortSignal,
): Promise<boolean> => {
  if (sessions.continues === undefined) return isPrefix(before, after, signal);
  const sizes = await Promise.all([stat(before), stat(after)]);
  if (sizes.some(({ size }) => size > MAX_RECORD_LENGTH)) {
    throw new Error("it is too large to be compared with the file on the host");
  }
  const [earlier, later] = await Promise.all([readFile(before, "utf8"), readFile(after, "utf8")]);
  return sessions.continues(earlier, later);
};
