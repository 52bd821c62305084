import { cpSync, existsSync, lstatSync, mkdirSync, renameSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import type { ConfigEntry } from "../configFile.ts";
import { diffTree } from "../diffTree.ts";
import { git } from "../git.ts";
import { ensureGitDirectoryPart } from "../gitDirectoryParts.ts";
import type { Repository } from "../repository.ts";
import { longestUnused, makeDraft, noteUse, putAside } from "../sharedDirectories/sharedDirectory.ts";
import { isUsed, noteUser, USERS } from "../sharedDirectories/users.ts";
import { PARALLEL } from "../worktrees/addWorktree.ts";
import {
  listSharedPaths,
  readSharedCheckout,
  type SharedCheckout,
  settingsHash,
  sharedCheckoutName,
  sharedPaths,
  writeRecord,
} from "./sharedCheckout.ts";

/** A run whose commit differs in at most so many files writes them into its own overlay, instead of checking out everything. */
const MAX_DIFFERENCES = 1000;

/** How many shared checkouts stay that no run uses. The branches that users start runs from are few. */
const MAX_UNUSED = 2;

/** To compare commits takes a process each. */
const MAX_CANDIDATES = 3;

/**
 * Waits until a file's second has passed. Git reads every file again that is as young as the index, and in a sandbox `git add`
 * would copy its object as well. Only the first run on a shared checkout waits.
 */
const untilSecondHasPassed = (path: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const leftMs = Math.floor(lstatSync(path).mtimeMs / 1000) * 1000 + 1000 - Date.now();
    // The clock of another machine's file system may be wrong.
    return Effect.sleep(Math.max(0, Math.min(leftMs, 1000)));
  });

/**
 * Discards a shared checkout. Runs that use it keep its files: it is removed when `sanddune clean` or a later run finds that none does.
 * The caller holds the lock.
 */
export const discardShared = (
  repository: Pick<Repository, "commonDirectory">,
  path: string,
): Effect.Effect<void, SandduneError> =>
  interruptible(async () => {
    const aside = putAside(path);
    if (!isUsed(repository, aside)) await removeDirectory(aside);
  });

/** Writes the files of a commit. A crash leaves only a draft. */
export const checkOut = Effect.fnUntraced(function* (
  repository: Repository,
  commit: string,
  path: string,
): Effect.fn.Return<void, SandduneError> {
  const draft = makeDraft(dirname(path));
  const { filesPath, indexPath } = sharedPaths(draft);
  mkdirSync(filesPath);
  mkdirSync(join(draft, USERS));
  yield* git([...PARALLEL, "read-tree", "--reset", "-u", commit], {
    cwd: filesPath,
    env: { GIT_DIR: repository.gitDirectory, GIT_WORK_TREE: filesPath, GIT_INDEX_FILE: indexPath },
  }).pipe(Effect.onError(() => Effect.ignore(interruptible(() => removeDirectory(draft)))));
  yield* untilSecondHasPassed(indexPath);
  const now = new Date();
  // Younger than every file: git compares times, and reads no file again.
  utimesSync(indexPath, now, now);
  writeRecord(draft, commit);
  if (existsSync(path)) {
    const users = join(path, USERS);
    if (existsSync(users)) cpSync(users, join(draft, USERS), { recursive: true });
    yield* discardShared(repository, path);
  }
  renameSync(draft, path);
});

/** Whether the files are as git wrote them. After a power cut they may be torn, and any program of the user may have changed them. */
export const isIntact = (
  repository: Repository,
  { filesPath, indexPath }: SharedCheckout,
): Effect.Effect<boolean, SandduneError> =>
  // Ignored files as well: every run would see them.
  git(["ls-files", "--modified", "--deleted", "--others", "-z"], {
    cwd: filesPath,
    env: { GIT_DIR: repository.gitDirectory, GIT_WORK_TREE: filesPath, GIT_INDEX_FILE: indexPath },
  }).pipe(Effect.map(({ stdout }) => stdout === ""));

/** Compares the files with git's index once after each restart of the machine. Resolves with whether they are as git wrote them. */
export const isSound = Effect.fnUntraced(function* (
  repository: Repository,
  shared: SharedCheckout,
): Effect.fn.Return<boolean> {
  if (!shared.isFromEarlierBoot) return true;
  const intact = yield* Effect.catch(isIntact(repository, shared), () => Effect.succeed(false));
  if (intact) writeRecord(shared.path, shared.commit);
  return intact;
});

/** Whether a run can write the difference between two commits into its own overlay. Attributes may change any file. */
const differsLittle = (repository: Repository, from: string, to: string): Effect.Effect<boolean> =>
  from === to
    ? Effect.succeed(true)
    : diffTree({ cwd: repository.topLevel }, from, to).pipe(
        Effect.map(
          (changes) =>
            changes.length <= MAX_DIFFERENCES &&
            !changes.some(({ path }) => basename(path) === ".gitattributes"),
        ),
        // One of the commits may no longer exist.
        Effect.catch(() => Effect.succeed(false)),
      );

/** Whether a shared checkout of another commit can be used. */
type MayUse = (commit: string) => Effect.Effect<boolean, SandduneError>;

/** The one to use: that of the commit, or the latest one that differs little. */
const choose = Effect.fnUntraced(function* (
  repository: Repository,
  commit: string,
  settings: string,
  mayUse: MayUse,
): Effect.fn.Return<SharedCheckout | undefined, SandduneError> {
  const candidates = listSharedPaths(repository)
    .filter((path) => path.endsWith(sharedCheckoutName("", settings)))
    .map(readSharedCheckout)
    .filter((found) => found !== undefined)
    .sort((one, other) => other.usedAt - one.usedAt);
  const exact = candidates.find((candidate) => candidate.commit === commit);
  for (const candidate of exact === undefined ? candidates.slice(0, MAX_CANDIDATES) : [exact]) {
    if (!(yield* differsLittle(repository, candidate.commit, commit))) continue;
    if (candidate !== exact && !(yield* mayUse(candidate.commit))) continue;
    if (!(yield* isSound(repository, candidate)))
      yield* checkOut(repository, candidate.commit, candidate.path);
    return candidate;
  }
  return undefined;
});

/** Discards those that were used longest ago, unfinished ones, and those that cannot be trusted. */
const discardOld = Effect.fnUntraced(function* (repository: Repository): Effect.fn.Return<void> {
  const unused = listSharedPaths(repository).filter((path) => !isUsed(repository, path));
  const old = longestUnused(unused, (path) => readSharedCheckout(path)?.usedAt, MAX_UNUSED);
  yield* Effect.forEach(old, (path) => Effect.ignore(discardShared(repository, path)));
});

/**
 * Finds or makes a shared checkout for a commit, and notes that the overlay in a directory uses it. The directory exists, and the
 * caller holds the lock of shared checkouts.
 */
export const openSharedCheckout = Effect.fnUntraced(function* (
  repository: Repository,
  config: readonly ConfigEntry[],
  commit: string,
  { directory: overlayDirectory, mayUse }: { readonly directory: string; readonly mayUse: MayUse },
): Effect.fn.Return<SharedCheckout, SandduneError> {
  const directory = ensureGitDirectoryPart(repository, "checkouts");
  const settings = settingsHash(repository, config);
  let shared = yield* choose(repository, commit, settings, mayUse);
  if (shared === undefined) {
    const path = join(directory, sharedCheckoutName(commit, settings));
    yield* checkOut(repository, commit, path);
    shared = readSharedCheckout(path);
    if (shared === undefined) return yield* Effect.die("a new shared checkout cannot be read");
    yield* discardOld(repository);
  }
  noteUse(sharedPaths(shared.path).recordPath);
  noteUser(repository, shared.path, overlayDirectory);
  return shared;
});
