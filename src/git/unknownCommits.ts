import { type Dirent, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { git } from "./git.ts";
import type { Repository } from "./repository.ts";

/** An agent can make any number of refs, of any size: beyond these it is not worth the while to look. */
const MAX_REFS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

const OBJECT_NAME = /\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g;

/** Files in which git writes down commits, and whatever else is in their place. */
const refFiles = (gitDirectory: string): string[] => {
  const ofDirectory = (name: string): string[] => {
    const path = join(gitDirectory, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (!status?.isDirectory()) return status === undefined ? [] : [path];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry: Dirent) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name));
  };
  return [
    join(gitDirectory, "HEAD"),
    join(gitDirectory, "packed-refs"),
    // A directory that only git can read; an agent may have changed the format.
    join(gitDirectory, "reftable"),
    ...ofDirectory("refs"),
    // What was stashed is named by a log alone, but for the last of it.
    ...ofDirectory("logs/refs").filter((path) => path.endsWith("/stash")),
  ];
};

const objectNamesIn = (path: string): string[] => {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return [];
  // A link, which git would follow, may lead anywhere.
  if (!status.isFile()) throw new TypeError(`${path} is no file`);
  if (status.size > MAX_BYTES) throw new RangeError(`${path} is too large`);
  return readFileSync(path, "latin1").match(OBJECT_NAME) ?? [];
};

/** Having a commit is not enough: what no ref leads to is thrown away some day. */
const areReachable = (cwd: string, names: readonly string[]): Effect.Effect<boolean, SandduneError> =>
  git(["rev-list", "--max-count=1", "--stdin", "--not", "--all"], {
    cwd,
    stdin: `${names.join("\n")}\n`,
  }).pipe(Effect.map(({ stdout }) => stdout === ""));

/**
 * Whether a git directory that an agent had for its own names commits that no ref of the host leads to. Git is never run in
 * it: its configuration is the agent's. Whatever makes that unclear counts as a yes.
 */
export const hasUnknownCommits = (
  { topLevel: cwd }: Repository,
  gitDirectory: string,
): Effect.Effect<boolean, SandduneError> =>
  Effect.suspend(() => {
    if (lstatSync(gitDirectory, { throwIfNoEntry: false }) === undefined) return Effect.succeed(false);
    const names = new Set<string>();
    try {
      const files = refFiles(gitDirectory);
      if (files.length > MAX_REFS) return Effect.succeed(true);
      for (const file of files) for (const name of objectNamesIn(file)) names.add(name);
    } catch {
      return Effect.succeed(true);
    }
    // A log begins with the name of no object.
    const asked = [...names].filter((name) => !/^0+$/.test(name));
    if (asked.length === 0) return Effect.succeed(false);
    return git(["cat-file", "--batch-check"], { cwd, stdin: `${asked.join("\n")}\n` }).pipe(
      Effect.flatMap(({ stdout }) =>
        stdout.split("\n").some((line) => line.endsWith(" missing"))
          ? Effect.succeed(true)
          : Effect.map(areReachable(cwd, asked), (reachable) => !reachable),
      ),
    );
  });
