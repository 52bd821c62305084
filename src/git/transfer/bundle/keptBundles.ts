import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** What an isolated sandbox is sent when it is made: commits that the repository has. */
export const SENT_BUNDLE = "in.bundle";

/** Bundles that came out of a sandbox and were not imported, among the files of a run. */
export const keptBundles = (filesDirectory: string): string[] =>
  (existsSync(filesDirectory) ? readdirSync(filesDirectory) : [])
    .filter((name) => name.endsWith(".bundle") && name !== SENT_BUNDLE)
    .map((name) => join(filesDirectory, name));
