import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { hostSystem } from "../../process/host/system.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { runProcess } from "../../process/runProcess.ts";
import type { SandboxSnapshot } from "../../sandboxes/contract.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { ensureGitDirectoryPart } from "../gitDirectoryParts.ts";
import { lockSharedCheckouts } from "../locks/locks.ts";
import type { Repository } from "../repository.ts";
import { isOwn, longestUnused, makeDraft, noteUse, putAside } from "../sharedDirectories/sharedDirectory.ts";
import { isUsed, noteUser, USERS } from "../sharedDirectories/users.ts";
import {
  isBeingFilled,
  type KeptSetup,
  listSetupPaths,
  readKeptSetup,
  readRecord,
  type SetupRecord,
  setupPaths,
  setupsDirectory,
  writeRecord,
} from "./keptSetup.ts";

/** Removes what a provider keeps of a snapshot outside of its directory, at the place where it was made. */
export type RemoveSnapshot = (
  provider: string,
  snapshot: SandboxSnapshot & { readonly place: string | undefined },
) => Promise<void>;

/** How many kept set-ups stay that no run uses. */
const MAX_UNUSED = 3;

/** The name of the kept set-up for a key. */
export const setupName = (key: unknown): string =>
  createHash("sha256").update(JSON.stringify(key)).digest("hex").slice(0, 32);

const locked = <A>(repository: Repository, body: () => A): Effect.Effect<A, SandduneError> =>
  Effect.scoped(Effect.andThen(lockSharedCheckouts(repository), Effect.sync(body)));

/** A kept set-up that a run uses. */
export interface TakenSetup extends KeptSetup {
  readonly name: string;
  /** The run does not use it after all. */
  release(): void;
}

/** Finds a kept set-up, and notes that the run with these files uses it. */
export const takeSetup = (
  repository: Repository,
  name: string,
  filesDirectory: string,
): Effect.Effect<TakenSetup | undefined, SandduneError> => {
  const directory = setupsDirectory(repository);
  const path = join(directory, name);
  if (!existsSync(path) || !isOwn(directory)) return Effect.succeed(undefined);
  return locked(repository, () => {
    const found = readKeptSetup(path);
    if (found === undefined) return undefined;
    noteUse(setupPaths(path).record);
    const note = noteUser(repository, path, filesDirectory);
    return { ...found, name, release: () => rmSync(note, { force: true }) };
  });
};

/**
 * Makes the directory of a new kept set-up, which has its record as soon as the lock is free. If this process dies before it is complete,
 * it is found by that and removed.
 */
export const openDraft = (
  repository: Repository,
  record: SetupRecord,
): Effect.Effect<string, SandduneError> =>
  locked(repository, () => {
    const draft = makeDraft(ensureGitDirectoryPart(repository, "setups"));
    const { layer, home, sandbox } = setupPaths(draft);
    writeRecord(draft, record);
    for (const path of [layer, home, sandbox, join(draft, USERS)]) mkdirSync(path, { mode: 0o700 });
    return draft;
  });

/** Removes drafts, and entries that were put aside, with their snapshots. */
const removeAside = (path: string, remove: RemoveSnapshot): Effect.Effect<void, SandduneError> =>
  interruptible(async () => {
    const record = readRecord(path);
    if (record !== undefined) {
      const { provider, place, snapshotName: name, snapshotState: state = "" } = record;
      await remove(provider, { name, place, directory: setupPaths(path).sandbox, state });
    }
    await removeDirectory(path);
  });

/** Removes a kept set-up or a draft, unless a run uses it. */
export const discardSetup = (
  repository: Repository,
  path: string,
  remove: RemoveSnapshot,
): Effect.Effect<void, SandduneError> =>
  locked(repository, () =>
    existsSync(path) && !isUsed(repository, path) && !isBeingFilled(path) ? putAside(path) : undefined,
  ).pipe(Effect.flatMap((aside) => (aside === undefined ? Effect.void : removeAside(aside, remove))));

/** Removes a draft of this process. */
export const discardDraft = removeAside;

/** Puts aside drafts of dead processes, and the entries that were used longest ago. The caller holds the lock. */
const putOldAside = (repository: Repository): string[] => {
  const unused = listSetupPaths(repository).filter(
    (path) => !isUsed(repository, path) && !isBeingFilled(path),
  );
  return longestUnused(unused, (path) => readKeptSetup(path)?.usedAt, MAX_UNUSED).flatMap(
    (path) => orUndefined(() => putAside(path)) ?? [],
  );
};

/** After a power cut, a complete record must not stand beside torn files. */
const flush = (path: string): Effect.Effect<void, SandduneError> =>
  interruptible(async () => {
    await runProcess({
      program: "sync",
      args: hostSystem().name === "linux" ? ["-f", "--", path] : [],
      timeoutMs: 600_000,
    });
  });

/**
 * Completes a draft, and notes that the run uses it. Succeeds with whether it was kept: if another run was first, the draft is
 * removed. `replaces` is an entry of the same key that cannot be used any more.
 */
export const publishSetup = Effect.fnUntraced(function* (
  repository: Repository,
  { name, draft, record }: { readonly name: string; readonly draft: string; readonly record: SetupRecord },
  { replaces, filesDirectory }: { readonly replaces: KeptSetup | undefined; readonly filesDirectory: string },
  remove: RemoveSnapshot,
): Effect.fn.Return<boolean, SandduneError> {
  const path = join(setupsDirectory(repository), name);
  writeRecord(draft, record);
  yield* flush(draft);
  const { isKept, aside } = yield* locked(repository, () => {
    const present = readKeptSetup(path);
    const isReplaced = present === undefined || present.record.snapshotName === replaces?.record.snapshotName;
    const goes = existsSync(path) && isReplaced && !isUsed(repository, path);
    const old = goes ? [putAside(path)] : [];
    if (existsSync(path)) return { isKept: false, aside: [draft] };
    renameSync(draft, path);
    noteUser(repository, path, filesDirectory);
    return { isKept: true, aside: [...old, ...putOldAside(repository)] };
  });
  yield* Effect.forEach(aside, (old) => Effect.ignore(removeAside(old, remove)), { discard: true });
  return isKept;
});
