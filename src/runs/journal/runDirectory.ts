import { join } from "node:path";

/** The file whose appearance ends a session: `sanddune stop` makes it. */
export const stopRequestPath = (runDirectory: string): string => join(runDirectory, "stop");

/** The journal's own file, in the directory of a run. */
export const journalPath = (runDirectory: string): string => join(runDirectory, "journal.jsonl");

/** What the run needs on the host while it lasts, or what it could not bring home. */
export const runFilesDirectory = (runDirectory: string): string => join(runDirectory, "files");
