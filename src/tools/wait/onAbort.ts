/** The callbacks of each signal. */
const callbacks = new WeakMap<AbortSignal, Set<() => void>>();

/** All callbacks of a signal share one listener: Node.js warns of a leak at the eleventh. */
const callAll = ({ target }: Event): void => {
  const signal = target as AbortSignal;
  const all = callbacks.get(signal) ?? new Set();
  callbacks.delete(signal);
  for (const callback of all) callback();
};

/**
 * Use it wherever something must happen on an abort. Calls `callback` with the reason, at once if the signal is already aborted.
 * Returns a function that removes the callback.
 */
export const onAbort = (
  signal: AbortSignal | undefined,
  callback: (reason: unknown) => void,
): (() => void) => {
  if (signal === undefined) return () => {};
  const call = () => callback(signal.reason);
  if (signal.aborted) {
    call();
    return () => {};
  }
  const all = callbacks.get(signal) ?? new Set();
  if (all.size === 0) signal.addEventListener("abort", callAll, { once: true });
  callbacks.set(signal, all.add(call));
  return () => {
    if (!all.delete(call) || all.size > 0 || signal.aborted) return;
    signal.removeEventListener("abort", callAll);
    callbacks.delete(signal);
  };
};

/** Use it to stop waiting for a promise on an abort: rejects with `signal.reason`. */
export const orAborted = <A>(promise: PromiseLike<A>, signal: AbortSignal | undefined): Promise<A> =>
  new Promise<A>((resolve, reject) => {
    const stopWaiting = onAbort(signal, reject);
    promise.then(resolve, reject).then(stopWaiting);
  });
