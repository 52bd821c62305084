/** Output to print later. Set while the terminal is left to another program; keeps only the latest output. */
let heldBack: (() => void)[] | undefined;
const MAX_HELD_BACK = 1000;
const holders = new Set<symbol>();

export const isHeld = (): boolean => heldBack !== undefined;

/** Prints now, or when the terminal is available again. */
export const whenFree = (print: () => void): void => {
  if (heldBack === undefined) print();
  else if (heldBack.push(print) > MAX_HELD_BACK) heldBack.shift();
};

/** Holds all output until the result is called. Calls `onFirst` if output was not held before. */
export const holdBack = (onFirst: () => void): (() => void) => {
  const holder = Symbol("holder");
  if (holders.size === 0) onFirst();
  holders.add(holder);
  heldBack ??= [];
  return () => {
    if (!holders.delete(holder) || holders.size > 0) return;
    const prints = heldBack ?? [];
    heldBack = undefined;
    for (const print of prints) print();
  };
};
