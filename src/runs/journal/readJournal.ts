import { appendFileSync, closeSync, lstatSync, openSync, readFileSync, readSync } from "node:fs";
import { parseJson } from "../../tools/values/json.ts";
import { checkEntry, type WrittenEntry } from "./checkEntry.ts";
import { type JournalEntry, journalPath } from "./writeJournal.ts";

/** A link is none of ours: it may lead to a file that never ends. */
const isJournal = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** What a run has written, as it is; nothing if there is no journal. */
export const readJournalText = (runDirectory: string): string => {
  const path = journalPath(runDirectory);
  if (!isJournal(path)) return "";
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
};

/** The entries of a run, in order. Torn lines, as a crash leaves them, are left out; no journal has no entries. */
export const readJournal = (runDirectory: string): WrittenEntry[] =>
  readJournalText(runDirectory)
    .split("\n")
    .map((line) => checkEntry(parseJson(line)))
    .filter((entry) => entry !== undefined);

const endsInTheMiddleOfALine = (path: string): boolean => {
  const { size } = lstatSync(path);
  if (size === 0) return false;
  const file = openSync(path, "r");
  try {
    const last = Buffer.alloc(1);
    readSync(file, last, 0, 1, size - 1);
    return last.toString() !== "\n";
  } finally {
    closeSync(file);
  }
};

/** Adds to the journal of a run whose process is not there to do so; one that is gone needs no more entries. */
export const amendJournal = (runDirectory: string, entry: JournalEntry): void => {
  const path = journalPath(runDirectory);
  if (!isJournal(path)) return;
  const line = `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`;
  appendFileSync(path, endsInTheMiddleOfALine(path) ? `\n${line}` : line);
};
