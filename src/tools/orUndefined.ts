/** The value that a function returns; `undefined` if it throws. */
export const orUndefined = <A>(read: () => A): A | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** Whether a function returns; `false` if it throws. */
export const succeeds = (act: () => unknown): boolean => orUndefined(() => [act()]) !== undefined;
