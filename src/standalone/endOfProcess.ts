/** What is still there, and how it is ended. */
const open = new Set<() => Promise<void>>();

/** Nobody can use them any more, since nothing is left to be done. What fails now is found by others. */
const endAll = (): void => {
  for (const end of open) end().catch(() => {});
};

/** Has something ended when this process would end by itself, should its user have forgotten to. Returns how to call that off. */
export const endWithProcess = (end: () => Promise<void>): (() => void) => {
  if (open.size === 0) process.on("beforeExit", endAll);
  open.add(end);
  return () => {
    open.delete(end);
    if (open.size === 0) process.off("beforeExit", endAll);
  };
};
