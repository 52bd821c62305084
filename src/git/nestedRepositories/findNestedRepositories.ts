import { lstatSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { OpenDirectory } from "../../process/openDirectory.ts";
import { hasCode } from "../../tools/files/hasCode.ts";
import { foldPath } from "../foldPath.ts";
import { asText, fromText } from "../output.ts";
import { bareIdentitiesIn, bareIdentityOf } from "./bareIdentity.ts";
import { bareDirectoriesIn } from "./bareInTree.ts";
import { atEntry, isAbsent } from "./checkoutEntry.ts";
import { walkCheckout } from "./walkCheckout.ts";

/**
 * Entries below the top of a checkout that make git on the host run programs or wait for ever: `.git`, the `HEAD` of
 * directories that git treats as bare repositories, and pipes in place of files that git reads. Maps each path to its
 * identity. Paths are `latin1`, which preserves any bytes.
 */
export type NestedRepositories = ReadonlyMap<string, string>;

/** The walk also lists set-uid programs and devices, which can have any name. */
const CONCERNED = /\/(\.git|head|\.gitignore|\.gitattributes)$/i;

export type Kind = "repository" | "bare repository" | "pipe";

export const kindOf = (path: string): Kind => {
  const name = basename(path).toLowerCase();
  if (name === ".git") return "repository";
  return name === "head" ? "bare repository" : "pipe";
};

/** `undefined` if the entry is none of these kinds. */
export const identityAt = (directory: OpenDirectory, name: string, path: string): string | undefined => {
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

export const identifyAll = (
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
export const trustedIdentities = (
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
