import type { RunDisplay } from "./contract.ts";

/** Shows a session on two displays. */
export const teeDisplay = (one: RunDisplay, other: RunDisplay): RunDisplay => {
  const both = (show: (display: RunDisplay) => void): void => {
    show(one);
    show(other);
  };
  return {
    get failure() {
      return one.failure ?? other.failure;
    },
    note: (sentence) => both((display) => display.note(sentence)),
    warn: (sentence) => both((display) => display.warn(sentence)),
    iteration: (iteration, maxIterations) => both((display) => display.iteration(iteration, maxIterations)),
    event: (event) => both((display) => display.event(event)),
    rawLine: (line, stream) => both((display) => display.rawLine(line, stream)),
    hookLine: (hook, line) => both((display) => display.hookLine(hook, line)),
    step: (label) => {
      const ends = [one.step(label), other.step(label)];
      return () => {
        for (const end of ends) end();
      };
    },
    close: (ending) => both((display) => display.close(ending)),
  };
};
