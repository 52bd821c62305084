import type { RunDisplay } from "../../display/contract.ts";
import type { Redactor } from "../../redaction/redactor.ts";

/** A display that redacts everything except events, which must be redacted before. */
export const redactedDisplay = (display: RunDisplay, redactor: Redactor): RunDisplay => {
  if (!redactor.isNeeded) return display;
  return {
    get failure() {
      return display.failure;
    },
    note: (sentence) => display.note(redactor.text(sentence)),
    warn: (sentence) => display.warn(redactor.text(sentence)),
    iteration: (iteration, maxIterations) => display.iteration(iteration, maxIterations),
    event: (event) => display.event(event),
    rawLine: (line, stream) => display.rawLine(redactor.text(line), stream),
    hookLine: (hook, line) => display.hookLine(hook, redactor.text(line)),
    step: (label) => display.step(redactor.text(label)),
    close: (ending) =>
      display.close(
        ending.problem === undefined ? ending : { ...ending, problem: redactor.text(ending.problem) },
      ),
  };
};
