type Chunk = string | Uint8Array;

/** Passes each write to a stream to `around`, which calls `write` when it can. Returns a function to stop. */
export const interceptWrites = (
  stream: NodeJS.WriteStream,
  around: (chunk: Chunk, write: () => boolean) => boolean,
): (() => void) => {
  const { write } = stream;
  const wasOwn = Object.hasOwn(stream, "write");
  let isActive = true;
  const intercepted = function (this: NodeJS.WriteStream, chunk: Chunk, ...rest: unknown[]): boolean {
    const perform = (): boolean => Reflect.apply(write, stream, [chunk, ...rest]);
    return isActive ? around(chunk, perform) : perform();
  };
  stream.write = intercepted as typeof stream.write;
  return () => {
    // Another wrapper was installed meanwhile. It calls ours, and we must not remove it.
    isActive = false;
    if (stream.write !== intercepted) return;
    if (wasOwn) stream.write = write;
    else Reflect.deleteProperty(stream, "write");
  };
};

const LINE_FEED = 0x0a;

export const endsLine = (chunk: Chunk): boolean =>
  typeof chunk === "string" ? chunk.endsWith("\n") : chunk.at(-1) === LINE_FEED;
