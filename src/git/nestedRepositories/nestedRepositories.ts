import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, renameSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { foldPath } from "../foldPath.ts";
import type { OpenDirectory } from "../openDirectory.ts";
import { bareIdentitiesIn, bareIdentityOf } from "./bareIdentity.ts";
import { bareDirectoriesIn } from "./bareInTree.ts";
import { asText, atEntry, fromText, isAbsent } from "./checkoutEntry.ts";
import { removePrivileges } from "./removePrivileges.ts";
import { walkCheckout } from "./walkCheckout.ts";

/**
 * What makes git on the host run programs, or wait for ever, below the top of a checkout: `.git` entries, the `HEAD` of
 * directories that git takes for bare repositories, and pipes in the place of files that git reads. Each with what
 * identifies it. Names can hold any bytes; the strings are `latin1`, which keeps them.
 */
export type NestedRepositories = ReadonlyMap<string, string>;

/** The walk also lists programs and devices, under any name. */
const CONCERNED = /\/(\.git|head|\.gitignore|\.gitattributes)$/i;

type Kind = "repository" | "bare repository" | "pipe";

const kindOf = (path: string): Kind => {
  const name = basename(path).toLowerCase();
  if (name === ".git") return "repository";
  return name === "head" ? "bare repository" : "pipe";
};

/** `undefined` if it is none of them. */
const identityAt = (directory: OpenDirectory, name: string, path: string): string | undefined => {
  const status = lstatSync(directory.entry(name), { bigint: true });
  const kind = kindOf(name);
  if (kind === "bare repository") {
    // At the top git finds `.git` first.
    return dirname(path) === "." ? undefined : bareIdentityOf(directory, dirname(path));
  }
  return kind === "repository" || status.isFIFO() ? `${status.dev}:${status.ino}` : undefined;
};

/** `undefined` also if the way to it leads out of the checkout. Throws if that cannot be told. */
const identify = (checkoutPath: string, path: string): string | undefined => {
  try {
    return atEntry(checkoutPath, path, (directory, name) => identityAt(directory, name, path));
  } catch (error) {
    // EACCES: a directory that nobody may enter. Git cannot, either.
    if (isAbsent(error) || (error as NodeJS.ErrnoException).code === "EACCES") return undefined;
    throw error;
  }
};

export interface NestedSearch {
  readonly checkoutPath: string;
  /** The config directory's own worktrees are in the checkout: they are no business of the search. */
  readonly skipsConfigDirectory: boolean;
  /** Directories that git knows as submodules: looked at by name, in case a listing does not show them. */
  readonly submodulePaths?: readonly string[];
  /** A commit whose bare repositories are the user's, as long as they are as they were. */
  readonly trustedCommit?: string;
  /** The commit that a worktree was made from. If it is not the trusted one, its bare repositories may be an agent's. */
  readonly baseCommit?: string;
  /** Set-uid programs that were changed later are the agent's (nanoseconds). Without it they are left alone. */
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

/** Bare repositories in the trusted commit; asked for only where the checkout has one. */
const trustedIdentities = (
  { checkoutPath, trustedCommit }: NestedSearch,
  found: NestedRepositories,
): Effect.Effect<ReadonlySet<string>, SandduneError> =>
  trustedCommit !== undefined && [...found.keys()].some(isBare)
    ? bareIdentitiesIn(checkoutPath, trustedCommit)
    : Effect.succeed(new Set<string>());

/** Leaves out the bare repositories that came with a commit which is not trusted. */
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
 * What is the user's in a checkout that no agent is working in. Looks everywhere: git enters a nested repository as soon
 * as a command is run in the directory that holds it.
 */
export const findNestedRepositories = (
  search: NestedSearch,
): Effect.Effect<NestedRepositories, SandduneError> =>
  walkCheckout({ ...search, isAfterAgent: false }).pipe(
    Effect.flatMap(({ paths }) => withoutUntrusted(search, identifyAll(search, paths))),
  );

/** The paths of repositories that can be written as text, for mounting. */
export const nestedPaths = (nested: NestedRepositories): string[] =>
  [...nested.keys()]
    .filter((path) => kindOf(path) === "repository" && fromText(asText(path)) === path)
    .map(asText);

/** What was found, and the sentence for it when it was renamed, or could not be. */
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
  /** The agent may be alive and put something else in its place: that is not touched. */
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
        // The agent may have taken the right to change the directory away.
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

/** Whether a path lies in one of these directories. */
const liesIn = (path: string, directories: ReadonlySet<string>): boolean => {
  const parent = dirname(path);
  return parent !== path && (directories.has(parent) || liesIn(parent, directories));
};

/**
 * Renames the repositories, and the pipes, that the agent has put into a checkout. A pipe would have git wait for ever. As to repositories, their configuration names programs, and a plain
 * `git status` of the user's would run them: in the directory itself or, if it was committed as a submodule, from
 * anywhere in the checkout. Also takes away privileges that its files give to other accounts. Resolves with a sentence for each.
 */
export const disarmNestedRepositories = Effect.fnUntraced(function* (
  search: NestedSearch,
  before: NestedRepositories,
): Effect.fn.Return<string[], SandduneError> {
  const { checkoutPath, changedSince } = search;
  const { paths: listed, isComplete } = yield* walkCheckout({ ...search, isAfterAgent: true });
  const found = identifyAll(search, listed);
  const known = new Set(before.values());
  // A repository of the user's own has a HEAD, too.
  const own = new Set([...found].flatMap(([path, identity]) => (known.has(identity) ? [path] : [])));
  const unknown = new Map(
    [...found].filter(([path, identity]) => !known.has(identity) && !liesIn(path, own)),
  );
  const trusted = yield* trustedIdentities(search, unknown);
  const hostile = [...unknown].filter(([, identity]) => !trusted.has(identity));
  // Before anything is renamed, with which paths change.
  const privileges = changedSince === undefined ? [] : removePrivileges(checkoutPath, listed, changedSince);
  // The deepest first, for the same reason. What was in a `.git` would be a bare repository under its new name.
  const disarmed = hostile.reverse().map(([path, identity]) => disarm(checkoutPath, path, identity));
  const outer = new Set(disarmed.filter(({ isDone }) => isDone).map(({ path }) => path));
  const told = disarmed.filter(({ path, isDone }) => !isDone || !liesIn(path, outer));
  const gap = isComplete
    ? []
    : [
        `Not all of ${checkoutPath} could be looked at: there are too many repositories, set-uid programs or devices in it. Do not use git there, and do not let other accounts in: chmod 700 ${shellQuote(checkoutPath)}`,
      ];
  return [...gap, ...told.map(({ sentence }) => sentence), ...privileges];
});
