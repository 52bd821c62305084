import { appendFileSync, mkdirSync } from "node:fs";
import type { JournalEntry } from "./entries.ts";
import { isJournal, readJournalText } from "./readJournal.ts";
import { journalPath, runFilesDirectory } from "./runDirectory.ts";

/** The fields that may quote what a program has printed. All others are needed as they are, to find things again. */
const SENTENCES: ReadonlySet<string> = new Set(["reason", "problem", "error"]);

/**
 * The record of one run in `.sanddune/runs/<id>/journal.jsonl`, one entry a line, each written at once. After a crash
 * it tells what the run had made; a torn last line is to be expected.
 */
export class Journal {
  readonly path: string;
  readonly filesDirectory: string;
  #isBroken = false;

  constructor(
    readonly runDirectory: string,
    /** Takes the secrets out of a sentence. */
    private readonly redact: (sentence: string) => string,
  ) {
    this.filesDirectory = runFilesDirectory(runDirectory);
    mkdirSync(runDirectory, { mode: 0o700 });
    mkdirSync(this.filesDirectory);
    this.path = journalPath(runDirectory);
  }

  /** Must succeed: what is not in the journal must not be created. A durable entry survives a power cut. */
  write(entry: JournalEntry, { isDurable = false } = {}): void {
    const line = JSON.stringify({ at: new Date().toISOString(), ...entry }, (key, value: unknown) =>
      SENTENCES.has(key) && typeof value === "string" ? this.redact(value) : value,
    );
    appendFileSync(this.path, `${line}\n`, { flush: isDurable });
  }

  /** For entries that only tell: a full disk must not keep a run from tidying up. */
  tell(entry: JournalEntry): void {
    if (this.#isBroken) return;
    try {
      this.write(entry);
    } catch {
      this.#isBroken = true;
    }
  }
}

/** Appends to the journal of a run whose process has ended. Does nothing if the journal was removed. */
export const amendJournal = (runDirectory: string, entry: JournalEntry): void => {
  const path = journalPath(runDirectory);
  if (!isJournal(path)) return;
  const line = `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`;
  // A crash leaves a torn last line.
  const isTorn = /[^\n]$/.test(readJournalText(runDirectory));
  appendFileSync(path, isTorn ? `\n${line}` : line);
};
