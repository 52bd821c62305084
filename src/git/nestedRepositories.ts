import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, renameSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import { runProcess } from "../process/runProcess.ts";
import { type HeldDirectory, withHeldDirectory } from "./heldDirectory.ts";

/**
 * The `.git` entries below the top of a checkout, and pipes in the place of files that git reads, each with what identifies it on its file system. Names can hold any
 * bytes; the strings are `latin1`, which keeps them.
 */
export type NestedRepositories = ReadonlyMap<string, string>;

const asBytes = (path: string): Buffer => Buffer.from(path, "latin1");
const asText = (path: string): string => asBytes(path).toString("utf8");
const fromText = (path: string): string => Buffer.from(path, "utf8").toString("latin1");

/** Does something with the entry at a path below the checkout, through directories that are held. */
const atEntry = <A>(
  checkoutPath: string,
  path: string,
  use: (directory: HeldDirectory, name: string) => A,
): A => {
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  const name = steps.pop() ?? "";
  return withHeldDirectory(fromText(checkoutPath), steps, (directory) => use(directory, name));
};

const ABSENT: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** `undefined` if it is not there, or if the way to it leads out of the checkout. Throws if that cannot be told. */
const identify = (checkoutPath: string, path: string): string | undefined => {
  try {
    return atEntry(checkoutPath, path, (directory, name) => {
      const { dev, ino } = lstatSync(directory.entry(name), { bigint: true });
      return `${dev}:${ino}`;
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (ABSENT.has(code)) return undefined;
    // A directory that nobody may enter: git cannot, either.
    if (code === "EACCES") return undefined;
    throw error;
  }
};

/** For `find`: pipes in the place of files that git reads wherever they are. */
export const PIPES = [
  "-type",
  "p",
  "(",
  "-name",
  ".gitignore",
  "-o",
  "-name",
  ".gitattributes",
  ")",
] as const;

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
          ...["-o", ...PIPES, "-print0"],
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
        const identity = identify(checkoutPath, path);
        if (identity !== undefined) found.set(join(fromText(checkoutPath), path), identity);
      }
      return found;
    }),
  );

/** Whether it is a pipe that was found, and not a repository. */
const isPipe = (path: string): boolean => basename(path).toLowerCase() !== ".git";

/** The paths of repositories that can be written as text, for mounting. */
export const nestedPaths = (nested: NestedRepositories): string[] =>
  [...nested.keys()].filter((path) => !isPipe(path) && fromText(asText(path)) === path).map(asText);

/**
 * Renames what is still the entry that was found. The agent may be alive and put something else in its place, or lead the
 * way to it elsewhere: neither is touched.
 */
const rename = (directory: HeldDirectory, name: string, identity: string, newName: string): void => {
  const { dev, ino } = lstatSync(directory.entry(name), { bigint: true });
  if (`${dev}:${ino}` === identity) renameSync(directory.entry(name), directory.entry(newName));
};

const disarm = (checkoutPath: string, path: string, identity: string): string => {
  const place = dirname(path);
  const shown = JSON.stringify(relative(checkoutPath, asText(place)));
  const oldName = basename(path);
  const newName = `${isPipe(path) ? oldName : ".git"}.sanddune-${randomBytes(6).toString("hex")}`;
  const inside = relative(fromText(checkoutPath), path);
  try {
    atEntry(checkoutPath, inside, (directory, name) => {
      try {
        rename(directory, name, identity, newName);
      } catch {
        // The agent may have taken the right to change the directory away.
        chmodSync(directory.path, 0o700);
        rename(directory, name, identity, newName);
      }
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const made = isPipe(path)
      ? `a pipe in ${shown}, for which git would wait for ever. It could not be renamed`
      : `a git repository in ${shown}, which could run programs on your machine. It could not be disarmed`;
    return `The agent made ${made} (${code}): delete ${asText(path)} before you use git there.`;
  }
  if (isPipe(path))
    return `The agent made a pipe in the place of ${oldName} in ${shown}, for which git would wait for ever. It was renamed to ${asText(join(place, newName))}.`;
  return `The agent made a git repository in ${shown}. Its settings could run programs on your machine, so its .git was renamed to ${asText(join(place, newName))}.`;
};

/**
 * Renames the repositories, and the pipes, that the agent has put into a checkout. A pipe would have git wait for ever. As to repositories, their configuration names programs, and a plain
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
        .map(([path, identity]) => disarm(search.checkoutPath, path, identity));
    }),
  );
