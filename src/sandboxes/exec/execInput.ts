import type { ExecInput } from "../contract.ts";

async function* chunksOf(input: ExecInput | undefined): AsyncGenerator<Uint8Array> {
  if (input === undefined) return;
  if (typeof input === "string") yield Buffer.from(input);
  else if (input instanceof Uint8Array) yield input;
  else yield* input;
}

/**
 * The preamble, then the command's own input.
 *
 * `end` stops at once, even while the source waits for more data; an async generator could not do that. A source that
 * fails is reported, because the reader would take the failure for the end.
 */
export const execInput = (
  preamble: Uint8Array,
  input: ExecInput | undefined,
  onSourceError: (error: unknown) => void,
): { readonly chunks: AsyncIterable<Uint8Array>; readonly end: () => void } => {
  const source = chunksOf(input);
  const finished = { done: true, value: undefined } as const;
  let hasEnded = false;
  let preambleWasRead = false;
  /** Ends the read that is under way. (A race with one lasting promise would hold on to every piece that was ever read.) */
  let leaveRead = () => {};

  const end = () => {
    hasEnded = true;
    leaveRead();
    source.return(undefined).catch(() => {});
  };

  const nextOfSource = async (): Promise<IteratorResult<Uint8Array>> => {
    for (;;) {
      const next = await source.next();
      if (next.done || next.value.length > 0) return next;
    }
  };

  const iterator: AsyncIterator<Uint8Array> = {
    next: () => {
      if (hasEnded) return Promise.resolve(finished);
      if (!preambleWasRead) {
        preambleWasRead = true;
        return Promise.resolve({ done: false, value: preamble });
      }
      return new Promise((resolve) => {
        leaveRead = () => resolve(finished);
        nextOfSource().then(resolve, onSourceError);
      });
    },
    return: () => {
      end();
      return Promise.resolve(finished);
    },
  };
  return { chunks: { [Symbol.asyncIterator]: () => iterator }, end };
};
