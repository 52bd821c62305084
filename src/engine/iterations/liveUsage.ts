import type { IterationUsage } from "../../options/results.ts";
import type { Journal } from "../../runs/journal/writeJournal.ts";

/** Agents report tokens after every message, and a list of runs reads whole journals. */
const EVERY_MS = 1000;

/** Writes down what a run has used so far, so that other processes can show it while an iteration lasts. */
export class LiveUsage {
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly journal: Journal) {}

  note(usage: IterationUsage): void {
    const now = performance.now();
    if (now - this.#writtenAt < EVERY_MS) return;
    this.#writtenAt = now;
    this.journal.tell({ type: "usage", usage });
  }
}
