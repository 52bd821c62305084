import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Repository } from "../git/repository.ts";
import { configDirectoryPart } from "../options/configDirectory.ts";
import { hasCode } from "../tools/files/hasCode.ts";
import { readJournalText } from "./journal/readJournal.ts";
import { readRun, type StoredRun } from "./storedRun.ts";

const directoriesIn = (path: string): string[] => {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
};

/** A journal that cannot be read, for example one of another user, does not hide the others. */
const readIfPossible = (
  runDirectory: string,
  onUnreadable: (runDirectory: string) => void,
  isWanted: (journal: string) => boolean,
) => {
  try {
    return isWanted(readJournalText(runDirectory)) ? readRun(runDirectory) : undefined;
  } catch {
    onUnreadable(runDirectory);
    return undefined;
  }
};

/** All runs of the repository that have a journal, oldest first. */
export const listRuns = (
  { configDirectory }: Pick<Repository, "configDirectory">,
  onUnreadable: (runDirectory: string) => void = () => {},
  /** Decides by the raw text whether a run matters: parsing a thousand journals takes a second. */
  isWanted: (journal: string) => boolean = () => true,
): StoredRun[] => {
  const runs = configDirectoryPart(configDirectory, "runs");
  return directoriesIn(runs)
    .map((name) => readIfPossible(join(runs, name), onUnreadable, isWanted))
    .filter((run) => run !== undefined)
    .sort((a, b) => a.begunAt.getTime() - b.begunAt.getTime() || (a.runId < b.runId ? -1 : 1));
};
