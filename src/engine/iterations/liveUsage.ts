import type { IterationUsage } from "../../options/results.ts";
import type { Journal } from "../../runs/journal/writeJournal.ts";

/** Limits the size of the journal: agents report tokens after every message. */
const EVERY_MS = 1000;

/** Writes the usage so far to the journal, so that other processes can show it during an iteration. */
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
