import { lstatSync, readFileSync } from "node:fs";
import { parseJson } from "../../tools/json/parseJson.ts";
import { checkEntry, type WrittenEntry } from "./checkEntry.ts";
import { journalPath } from "./runDirectory.ts";

/** Sanddune never makes the journal a link, which could lead to an endless file. */
export const isJournal = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** The raw text of a journal; empty if there is no journal. */
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

/** The entries of a journal, in order, without torn lines. */
export const readJournal = (runDirectory: string): WrittenEntry[] =>
  readJournalText(runDirectory)
    .split("\n")
    .map((line) => checkEntry(parseJson(line)))
    .filter((entry) => entry !== undefined);
