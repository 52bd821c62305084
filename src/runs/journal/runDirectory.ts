import { join } from "node:path";

/** `sanddune stop` creates this file to stop the session. */
export const stopRequestPath = (runDirectory: string): string => join(runDirectory, "stop");

export const journalPath = (runDirectory: string): string => join(runDirectory, "journal.jsonl");

/** The run's own files on the host. They are kept if they hold commits that could not be imported. */
export const runFilesDirectory = (runDirectory: string): string => join(runDirectory, "files");
