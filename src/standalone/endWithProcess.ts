/** Ends each sandbox that is still open. */
const open = new Set<() => Promise<void>>();

/** The program has nothing left to do, so it cannot use them any more. The next process finds what fails now. */
const endAll = (): void => {
  for (const end of open) end().catch(() => {});
};

/** Calls `end` when this process would end by itself, in case its user has forgotten to. Returns a function that cancels that. */
export const endWithProcess = (end: () => Promise<void>): (() => void) => {
  if (open.size === 0) process.on("beforeExit", endAll);
  open.add(end);
  return () => {
    open.delete(end);
    if (open.size === 0) process.off("beforeExit", endAll);
  };
};
