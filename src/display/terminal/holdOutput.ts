/** Set while the terminal is left to another program: what there is to print then, the latest of it. */
let heldBack: (() => void)[] | undefined;
const MAX_HELD_BACK = 1000;
const holders = new Set<symbol>();

export const isHeld = (): boolean => heldBack !== undefined;

/** Prints now, or when the terminal is given back. */
export const whenFree = (print: () => void): void => {
  if (heldBack === undefined) print();
  else if (heldBack.push(print) > MAX_HELD_BACK) heldBack.shift();
};

/** Holds everything back until the result is called; `onFirst` is called unless that is so already. */
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
