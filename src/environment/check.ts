import { MAX_TIMER_MS } from "../process/timeLimit.ts";

/** Says what is wrong with a value, as the end of a sentence that begins with its name; nothing, if it is right. */
export type Check = (value: unknown) => string | undefined;

export const timeLimit: Check = (value) =>
  typeof value === "number" && value > 0 && value <= MAX_TIMER_MS
    ? undefined
    : `must be a number of milliseconds, above 0 and at most ${MAX_TIMER_MS}`;
