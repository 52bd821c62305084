type Chunk = string | Uint8Array;

/**
 * Sees to it that `around` performs everything that the program writes to a stream, with `write` at the moment that suits
 * it. Gives a function that ends this.
 */
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
    // What was put in its place meanwhile calls it, and is not ours to remove.
    isActive = false;
    if (stream.write !== intercepted) return;
    if (wasOwn) stream.write = write;
    else Reflect.deleteProperty(stream, "write");
  };
};

const LINE_FEED = 0x0a;

export const endsLine = (chunk: Chunk): boolean =>
  typeof chunk === "string" ? chunk.endsWith("\n") : chunk.at(-1) === LINE_FEED;
