import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The bundle that creates the repository in an isolated sandbox. It holds only commits of the host repository. */
export const SENT_BUNDLE = "in.bundle";

/** The bundles among the files of a run that a sandbox has exported and that were not imported. */
export const keptBundles = (filesDirectory: string): string[] =>
  (existsSync(filesDirectory) ? readdirSync(filesDirectory) : [])
    .filter((name) => name.endsWith(".bundle") && name !== SENT_BUNDLE)
    .map((name) => join(filesDirectory, name));
