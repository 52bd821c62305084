import { appendFileSync, mkdirSync } from "node:fs";
import { guardFromClean } from "./cleanGuard.ts";
import type { JournalEntry } from "./entries.ts";
import { isJournal, readJournalText } from "./readJournal.ts";
import { journalPath, runFilesDirectory } from "./runDirectory.ts";

/** The fields that may quote a program's output. The others identify things and must not be redacted. */
const SENTENCES: ReadonlySet<string> = new Set(["reason", "problem", "error"]);

/**
 * The journal of one run, `.sanddune/runs/<id>/journal.jsonl`: one entry a line, each written immediately. After a crash
 * it says what the run had created. The last line may be torn.
 */
export class Journal {
  readonly path: string;
  readonly filesDirectory: string;
  #isBroken = false;

  constructor(
    readonly runDirectory: string,
    /** Removes secrets from a sentence. */
    private readonly redact: (sentence: string) => string,
  ) {
    this.filesDirectory = runFilesDirectory(runDirectory);
    mkdirSync(runDirectory, { mode: 0o700 });
    mkdirSync(this.filesDirectory);
    guardFromClean(runDirectory);
    this.path = journalPath(runDirectory);
  }

  /** Throws if it fails: nothing may be created that the journal does not name. A durable entry survives a power cut. */
  write(entry: JournalEntry, { isDurable = false } = {}): void {
    const line = JSON.stringify({ at: new Date().toISOString(), ...entry }, (key, value: unknown) =>
      SENTENCES.has(key) && typeof value === "string" ? this.redact(value) : value,
    );
    appendFileSync(this.path, `${line}\n`, { flush: isDurable });
  }

  /** For entries that only inform: a full disk must not prevent clean-up. */
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
