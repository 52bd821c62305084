import { showDuration } from "./duration.ts";

/** Longer steps are reported. */
const SLOW_MS = 1000;

/** Reports a step that takes longer than a second when it ends and, with `tellBegin`, also before. */
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
