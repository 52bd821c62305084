import { readFileSync } from "node:fs";
import { isPlainFile } from "../../tools/files/entries.ts";
import { hasCode } from "../../tools/files/hasCode.ts";
import { parseJson } from "../../tools/json/parseJson.ts";
import { checkEntry, type WrittenEntry } from "./checkEntry.ts";
import { journalPath } from "./runDirectory.ts";

/** Sanddune never makes the journal a link, which could lead to an endless file. */
export const isJournal = isPlainFile;

/** The raw text of a journal; empty if there is no journal. */
export const readJournalText = (runDirectory: string): string => {
  const path = journalPath(runDirectory);
  if (!isJournal(path)) return "";
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  }
};

/** The entries of a journal, in order, without torn lines. */
export const readJournal = (runDirectory: string): WrittenEntry[] =>
  readJournalText(runDirectory)
    .split("\n")
    .map((line) => checkEntry(parseJson(line)))
    .filter((entry) => entry !== undefined);
