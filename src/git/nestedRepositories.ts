import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, renameSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import { runProcess } from "../process/runProcess.ts";

/**
 * The `.git` entries below the top of a checkout, each with what identifies it on its file system. Names can hold any
 * bytes; the strings are `latin1`, which keeps them.
 */
export type NestedRepositories = ReadonlyMap<string, string>;

const asBytes = (path: string): Buffer => Buffer.from(path, "latin1");
const asText = (path: string): string => asBytes(path).toString("utf8");
const fromText = (path: string): string => Buffer.from(path, "utf8").toString("latin1");

const identify = (path: string): string | undefined => {
  const stat = lstatSync(asBytes(path), { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.dev}:${stat.ino}`;
};

const CAPTURE_BYTES = 256 * 1024 * 1024;

export interface NestedSearch {
  readonly checkoutPath: string;
  /** The config directory's own worktrees are in the checkout: they are no business of the search. */
  readonly skipsConfigDirectory: boolean;
  /** Directories that git knows as submodules: looked at by name, in case a listing does not show them. */
  readonly submodulePaths?: readonly string[];
}

/** Looks everywhere: git enters a nested repository as soon as somebody works in the directory that holds it. */
export const findNestedRepositories = ({
  checkoutPath,
  skipsConfigDirectory,
  submodulePaths = [],
}: NestedSearch): Effect.Effect<NestedRepositories, SandduneError> =>
  interruptible(
    (signal) =>
      runProcess({
        program: "find",
        // Relative, because -path takes a pattern, and the checkout's own path can hold anything.
        args: [
          ...[".", "-mindepth", "1", "(", "-path", "./.git"],
          ...(skipsConfigDirectory ? ["-o", "-path", "./.sanddune"] : []),
          ...[")", "-prune", "-o", "-iname", ".git", "-print0"],
        ],
        cwd: checkoutPath,
        encoding: "latin1",
        captureBytes: CAPTURE_BYTES,
        signal,
      }),
    (reason) => reason as SandduneError,
  ).pipe(
    Effect.map(({ stdout }) => {
      const listed = stdout.split("\0").filter((path) => path !== "");
      const named = submodulePaths.map((path) => join(fromText(path), ".git"));
      const found = new Map<string, string>();
      for (const path of [...listed, ...named]) {
        const absolute = join(fromText(checkoutPath), path);
        const identity = identify(absolute);
        if (identity !== undefined) found.set(absolute, identity);
      }
      return found;
    }),
  );

/** The paths that can be written as text, for mounting. */
export const nestedPaths = (nested: NestedRepositories): string[] =>
  [...nested.keys()].filter((path) => fromText(asText(path)) === path).map(asText);

const disarm = (checkoutPath: string, path: string): string => {
  const directory = dirname(path);
  const shown = JSON.stringify(relative(checkoutPath, asText(directory)));
  const renamed = join(directory, `.git.sanddune-${randomBytes(6).toString("hex")}`);
  try {
    renameSync(asBytes(path), asBytes(renamed));
  } catch {
    try {
      // The agent may have taken the right to change the directory away.
      chmodSync(asBytes(directory), 0o700);
      renameSync(asBytes(path), asBytes(renamed));
    } catch (error) {
      return `The agent made a git repository in ${shown}, which could run programs on your machine. It could not be disarmed (${(error as NodeJS.ErrnoException).code}): delete ${asText(path)} before you use git there.`;
    }
  }
  return `The agent made a git repository in ${shown}. Its settings could run programs on your machine, so its .git was renamed to ${asText(renamed)}.`;
};

/**
 * Renames the repositories that the agent has put into a checkout. Their configuration names programs, and a plain
 * `git status` of the user's would run them: in the directory itself or, if it was committed as a submodule, from
 * anywhere in the checkout. Resolves with a sentence for each.
 */
export const disarmNestedRepositories = (
  search: NestedSearch,
  before: NestedRepositories,
): Effect.Effect<string[], SandduneError> =>
  findNestedRepositories(search).pipe(
    Effect.map((found) => {
      const known = new Set(before.values());
      return [...found]
        .filter(([, identity]) => !known.has(identity))
        .map(([path]) => disarm(search.checkoutPath, path));
    }),
  );
