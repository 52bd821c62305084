import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ConfigEntry } from "../configFile.ts";
import type { Repository } from "../repository.ts";

const readIfExists = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8").trimEnd() : "");

const userExcludesFile = (hostConfig: readonly ConfigEntry[]): string => {
  const configured = hostConfig.findLast(([name]) => name === "core.excludesfile")?.[1];
  if (configured !== undefined) return configured.replace(/^~(?=\/)/, homedir());
  return join(process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "git/ignore");
};

/**
 * The user's ignore patterns outside the repository. The agent must ignore the same files: `git add --all` would commit
 * editor files and secrets that the user never sees in `git status`.
 */
export const hostExcludes = (repository: Repository, hostConfig: readonly ConfigEntry[]): string =>
  [
    readIfExists(userExcludesFile(hostConfig)),
    readIfExists(join(repository.commonDirectory, "info/exclude")),
    // A mount hides it behind an empty file, which must not be committed either.
    "/.sanddune/.env",
  ]
    .filter((text) => text !== "")
    .map((text) => `${text}\n`)
    .join("");
