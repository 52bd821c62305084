/** What is to be called for each signal. */
const callbacks = new WeakMap<AbortSignal, Set<() => void>>();

/** A signal has one listener of ours, however many wait for it: Node.js warns of a leak at the eleventh. */
const callAll = ({ target }: Event): void => {
  const signal = target as AbortSignal;
  const all = callbacks.get(signal) ?? new Set();
  callbacks.delete(signal);
  for (const callback of all) callback();
};

/**
 * Calls `callback` with the reason once the signal is aborted; at once if it is already. Gives what stops waiting.
 * The one way to wait for an abort.
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

/** Waits for a promise. Rejects with `signal.reason` if the signal is aborted before. */
export const orAborted = <A>(promise: PromiseLike<A>, signal: AbortSignal | undefined): Promise<A> =>
  new Promise<A>((resolve, reject) => {
    const stopWaiting = onAbort(signal, reject);
    promise.then(resolve, reject).then(stopWaiting);
  });
