import { showDuration } from "./duration.ts";

/** What takes longer than this is worth a word. */
const SLOW_MS = 1000;

/** Tells of a step that has taken longer than a second; when it is over, and before, if `tellBegin` is given. */
export const tellIfSlow = (
  label: string,
  tellEnd: (sentence: string) => void,
  tellBegin: (sentence: string) => void = () => {},
): (() => void) => {
  const startedAt = performance.now();
  const timer = setTimeout(() => tellBegin(`${label} …`), SLOW_MS).unref();
  return () => {
    clearTimeout(timer);
    const durationMs = performance.now() - startedAt;
    if (durationMs >= SLOW_MS) tellEnd(`${label}: took ${showDuration(durationMs)}.`);
  };
};
