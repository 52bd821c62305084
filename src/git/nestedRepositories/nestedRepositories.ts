import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, renameSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { hasCode } from "../../tools/files/hasCode.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { foldPath } from "../foldPath.ts";
import type { OpenDirectory } from "../openDirectory.ts";
import { asText, fromText } from "../output.ts";
import { bareIdentitiesIn, bareIdentityOf } from "./bareIdentity.ts";
import { bareDirectoriesIn } from "./bareInTree.ts";
import { atEntry, isAbsent } from "./checkoutEntry.ts";
import { removePrivileges } from "./removePrivileges.ts";
import { walkCheckout } from "./walkCheckout.ts";

/**
 * Entries below the top of a checkout that make git on the host run programs or wait for ever: `.git`, the `HEAD` of
 * directories that git treats as bare repositories, and pipes in place of files that git reads. Maps each path to its
 * identity. Paths are `latin1`, which preserves any bytes.
 */
export type NestedRepositories = ReadonlyMap<string, string>;

/** The walk also lists set-uid programs and devices, which can have any name. */
const CONCERNED = /\/(\.git|head|\.gitignore|\.gitattributes)$/i;

type Kind = "repository" | "bare repository" | "pipe";

const kindOf = (path: string): Kind => {
  const name = basename(path).toLowerCase();
  if (name === ".git") return "repository";
  return name === "head" ? "bare repository" : "pipe";
};

/** `undefined` if the entry is none of these kinds. */
const identityAt = (directory: OpenDirectory, name: string, path: string): string | undefined => {
  const status = lstatSync(directory.entry(name), { bigint: true });
  const kind = kindOf(name);
  if (kind === "bare repository") {
    // At the top, git finds `.git` first.
    return dirname(path) === "." ? undefined : bareIdentityOf(directory, dirname(path));
  }
  return kind === "repository" || status.isFIFO() ? `${status.dev}:${status.ino}` : undefined;
};

/** The identity of an entry; `undefined` if it does not exist in the checkout. Throws if it cannot be inspected. */
const identify = (checkoutPath: string, path: string): string | undefined => {
  try {
    return atEntry(checkoutPath, path, (directory, name) => identityAt(directory, name, path));
  } catch (error) {
    // EACCES: git cannot enter the directory either.
    if (isAbsent(error) || hasCode(error, "EACCES")) return undefined;
    throw error;
  }
};

export interface NestedSearch {
  readonly checkoutPath: string;
  /** Leaves out the config directory, which holds worktrees. */
  readonly skipsConfigDirectory: boolean;
  /** Submodules of the index. They are inspected even if the walk does not list them. */
  readonly submodulePaths?: readonly string[];
  /** A commit whose bare repositories are trusted as long as their identities are unchanged. */
  readonly trustedCommit?: string;
  /** The commit of the worktree. Unless it is the trusted one, an agent may have committed its bare repositories. */
  readonly baseCommit?: string;
  /** Set-uid programs with a later change time (nanoseconds) are the agent's. If undefined, none is touched. */
  readonly changedSince?: bigint;
}

const identifyAll = (
  { checkoutPath, submodulePaths = [] }: NestedSearch,
  listed: readonly string[],
): NestedRepositories => {
  const named = submodulePaths.map((path) => join(fromText(path), ".git"));
  const found = new Map<string, string>();
  const concerned = listed.filter((path) => CONCERNED.test(path)).map((path) => join(path));
  for (const path of [...concerned, ...named]) {
    const identity = identify(checkoutPath, path);
    if (identity !== undefined) found.set(join(fromText(checkoutPath), path), identity);
  }
  return found;
};

const isBare = (path: string): boolean => kindOf(path) === "bare repository";

/** The bare repositories of the trusted commit; empty if the checkout has none. */
const trustedIdentities = (
  { checkoutPath, trustedCommit }: NestedSearch,
  found: NestedRepositories,
): Effect.Effect<ReadonlySet<string>, SandduneError> =>
  trustedCommit !== undefined && [...found.keys()].some(isBare)
    ? bareIdentitiesIn(checkoutPath, trustedCommit)
    : Effect.succeed(new Set<string>());

/** Leaves out bare repositories of a base commit that is not trusted. */
const withoutUntrusted = Effect.fnUntraced(function* (
  search: NestedSearch,
  found: NestedRepositories,
): Effect.fn.Return<NestedRepositories, SandduneError> {
  const { checkoutPath, trustedCommit, baseCommit } = search;
  if (baseCommit === undefined || baseCommit === trustedCommit || ![...found.keys()].some(isBare)) {
    return found;
  }
  const trusted = yield* trustedIdentities(search, found);
  const committed = yield* bareDirectoriesIn(checkoutPath, baseCommit);
  const isCommitted = (path: string) =>
    committed.has(foldPath(relative(checkoutPath, asText(dirname(path)))));
  return new Map(
    [...found].filter(([path, identity]) => !isBare(path) || trusted.has(identity) || !isCommitted(path)),
  );
});

/**
 * Finds the user's nested repositories before an agent works in the checkout. Searches everywhere, ignored directories
 * included: git uses a nested repository as soon as a command runs in its directory.
 */
export const findNestedRepositories = (
  search: NestedSearch,
): Effect.Effect<NestedRepositories, SandduneError> =>
  walkCheckout({ ...search, isAfterAgent: false }).pipe(
    Effect.flatMap(({ paths }) => withoutUntrusted(search, identifyAll(search, paths))),
  );

/** The paths of `.git` entries that are valid UTF-8: only these can be mounted. */
export const nestedPaths = (nested: NestedRepositories): string[] =>
  [...nested.keys()]
    .filter((path) => kindOf(path) === "repository" && fromText(asText(path)) === path)
    .map(asText);

/** The sentences for an entry that was renamed, and for one that could not be. */
const SENTENCES: Record<Kind, (shown: string, newPath: string) => readonly [done: string, not: string]> = {
  repository: (shown, newPath) => [
    `The agent made a git repository in ${shown}. Its settings could run programs on your machine, so its .git was renamed to ${newPath}.`,
    `The agent made a git repository in ${shown}, which could run programs on your machine. It could not be disarmed`,
  ],
  "bare repository": (shown, newPath) => [
    `The agent made ${shown} a directory that git takes for a bare repository. Its settings could run programs on your machine, so its HEAD was renamed to ${newPath}.`,
    `The agent made ${shown} a directory that git takes for a bare repository, which could run programs on your machine. It could not be disarmed`,
  ],
  pipe: (shown, newPath) => [
    `The agent made a pipe in the place of a file that git reads in ${shown}, for which git would wait for ever. It was renamed to ${newPath}.`,
    `The agent made a pipe in ${shown}, for which git would wait for ever. It could not be renamed`,
  ],
};

interface Disarmed {
  readonly path: string;
  readonly isDone: boolean;
  readonly sentence: string;
}

const disarm = (checkoutPath: string, path: string, identity: string): Disarmed => {
  const place = dirname(path);
  const kind = kindOf(path);
  const oldName = kind === "repository" ? ".git" : basename(path);
  const newName = `${oldName}.sanddune-${randomBytes(6).toString("hex")}`;
  const shown = JSON.stringify(relative(checkoutPath, asText(place)));
  const [done, not] = SENTENCES[kind](shown, asText(join(place, newName)));
  const inside = relative(fromText(checkoutPath), path);
  /** A running agent may have replaced the entry: then it is left alone. */
  const rename = (directory: OpenDirectory, name: string) => {
    const now = identityAt(directory, name, inside);
    if (now === identity || (kind === "bare repository" && now !== undefined))
      renameSync(directory.entry(name), directory.entry(newName));
  };
  try {
    atEntry(checkoutPath, inside, (directory, name) => {
      try {
        rename(directory, name);
      } catch {
        // The agent may have removed the write permission of the directory.
        chmodSync(directory.path, 0o700);
        rename(directory, name);
      }
    });
    return { path, isDone: true, sentence: done };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const sentence = `${not} (${code}): delete ${asText(path)} before you use git there.`;
    return { path, isDone: false, sentence };
  }
};

/** Whether a path is below one of the directories. */
const liesIn = (path: string, directories: ReadonlySet<string>): boolean => {
  const parent = dirname(path);
  return parent !== path && (directories.has(parent) || liesIn(parent, directories));
};

/**
 * Renames the nested repositories and pipes that the agent has left in a checkout. Git would wait for ever for a pipe.
 * The configuration of a repository names programs that a plain `git status` would run: in its directory or, if it was
 * committed as a submodule, anywhere in the checkout. Also removes set-uid bits. Resolves with sentences about all of
 * it.
 */
export const disarmNestedRepositories = Effect.fnUntraced(function* (
  search: NestedSearch,
  before: NestedRepositories,
): Effect.fn.Return<string[], SandduneError> {
  const { checkoutPath, changedSince } = search;
  const { paths: listed, isComplete } = yield* walkCheckout({ ...search, isAfterAgent: true });
  const found = identifyAll(search, listed);
  const known = new Set(before.values());
  // A `HEAD` inside a user's repository is not a bare repository.
  const own = new Set([...found].flatMap(([path, identity]) => (known.has(identity) ? [path] : [])));
  const unknown = new Map(
    [...found].filter(([path, identity]) => !known.has(identity) && !liesIn(path, own)),
  );
  const trusted = yield* trustedIdentities(search, unknown);
  const hostile = [...unknown].filter(([, identity]) => !trusted.has(identity));
  // Before the renames, which change paths.
  const privileges = changedSince === undefined ? [] : removePrivileges(checkoutPath, listed, changedSince);
  // Deepest first, for the same reason: a renamed `.git` is a bare repository unless its `HEAD` is renamed too.
  const disarmed = hostile.reverse().map(([path, identity]) => disarm(checkoutPath, path, identity));
  const outer = new Set(disarmed.filter(({ isDone }) => isDone).map(({ path }) => path));
  const reported = disarmed.filter(({ path, isDone }) => !isDone || !liesIn(path, outer));
  const gap = isComplete
    ? []
    : [
        `Not all of ${checkoutPath} could be looked at: there are too many repositories, set-uid programs or devices in it. Do not use git there, and do not let other accounts in: chmod 700 ${shellQuote(checkoutPath)}`,
      ];
  return [...gap, ...reported.map(({ sentence }) => sentence), ...privileges];
});
