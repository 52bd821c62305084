import { lstatSync, readFileSync } from "node:fs";
import { parseJson } from "../../tools/json/parseJson.ts";
import { checkEntry, type WrittenEntry } from "./checkEntry.ts";
import { journalPath } from "./runDirectory.ts";

/** A link is none of ours: it may lead to a file that never ends. */
export const isJournal = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

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
