const ignore = () => {};

/**
 * Writes, and ignores that the reader has gone: the error would end the process. Writing to a terminal, a pipe or a file is
 * synchronous on POSIX systems, which is the back-pressure.
 */
export const writeSafely = (stream: NodeJS.WriteStream, text: string): void => {
  if (stream.destroyed) return;
  stream.once("error", ignore);
  stream.write(text, (error) => {
    // The event comes later: the listener must still exist then.
    if (error) stream.once("error", ignore);
  });
  stream.off("error", ignore);
};
