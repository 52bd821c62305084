import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import type { OverlayLayers } from "../../process/overlay/layers.ts";
import { type OverlayMount, openOverlayMount } from "../../process/overlay/overlayMount.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import type { ConfigEntry } from "../configFile.ts";
import { git } from "../git.ts";
import { lockSharedCheckouts } from "../locks/locks.ts";
import type { Repository } from "../repository.ts";
import { setupsDirectory } from "../setups/keptSetup.ts";
import { noteUser } from "../sharedDirectories/users.ts";
import { removalDraft } from "../worktrees/removalDraft.ts";
import { openSharedCheckout } from "./openSharedCheckout.ts";
import { layerOf, mayLieBelow, type OverlaySetup } from "./overlayLayer.ts";
import { overlayRecordTime, writeOverlayRecord } from "./overlayRecord.ts";
import type { SharedCheckout } from "./sharedCheckout.ts";

/** The files of a worktree as an overlay: the changes of one run over a shared checkout. The worktree itself is empty. */
export interface OverlayCheckout {
  /** Holds everything of this run's overlay. As long as it exists, the changes are not in the worktree. */
  readonly directory: string;
  /** Where all files are copied to before they are put into the worktree: on its file system, which may be another one. */
  readonly copyPath: string;
  readonly layers: OverlayLayers;
  /** The commit of the files in the lower directory, and git's index of them. */
  readonly shared: Pick<SharedCheckout, "commit" | "indexPath">;
  /** The commit of the files that the run started with. */
  readonly commit: string;
}

/** The worktree of an overlay: git has registered it, and it holds nothing but its `.git` file. */
export interface EmptyWorktree {
  readonly path: string;
  readonly gitDirectory: string;
}

/** Where the copy is made, among the run's own files: `sanddune clean` does not remove it meanwhile. */
export const overlayCopyIn = (filesDirectory: string): string => join(filesDirectory, "overlay-copy");

export const overlayPaths = (directory: string) => ({
  upperPath: join(directory, "upper"),
  workPath: join(directory, "work"),
  /** Only if the run starts with another commit than that of the shared checkout. */
  startIndexPath: join(directory, "index"),
});

/** Whether there are files where only the `.git` file of an empty worktree should be. */
export const holdsFiles = (path: string): boolean =>
  existsSync(path) && readdirSync(path).some((name) => name !== ".git");

/** Whether a worktree has neither files nor an index: its files are in an overlay, or were about to be. */
export const isEmptyWorktree = ({ path, gitDirectory }: EmptyWorktree): boolean =>
  !existsSync(join(gitDirectory, "index")) && !holdsFiles(path);

/**
 * Removes an overlay with everything in it. It disappears at once: the rest of one would be taken for the work of a run. Resolves with
 * the directory that could not be deleted, if any.
 */
export const discardOverlay = (directory: string): Effect.Effect<string | undefined, SandduneError> =>
  interruptible(async () => {
    const aside = removalDraft(dirname(directory));
    renameSync(directory, aside);
    return removeDirectory(aside).then(
      () => undefined,
      () => aside,
    );
  });

/**
 * Mounts the overlay at the path of its worktree, for processes in a namespace of its own. The scope unmounts it. The user may have
 * removed the empty directory. Unless it is writable it can be mounted while a sandbox has it mounted, too.
 */
export const mountOverlay = (
  { layers }: OverlayCheckout,
  { path }: Pick<EmptyWorktree, "path">,
  options: { readonly isWritable?: boolean } = {},
): Effect.Effect<OverlayMount, SandduneError, Scope.Scope> =>
  Effect.acquireRelease(
    interruptible(async () => {
      mkdirSync(path, { recursive: true });
      return openOverlayMount(layers, path, options);
    }),
    (mount) => Effect.promise(() => mount.close()),
  );

/** Nothing that comes from a sandbox tells git where its directories are. */
export const overlayEnvironment = ({ path, gitDirectory }: EmptyWorktree, indexPath: string) => ({
  GIT_DIR: gitDirectory,
  GIT_WORK_TREE: path,
  GIT_INDEX_FILE: indexPath,
});

/** Writes the files that differ between the shared checkout and the commit into the overlay. */
const moveToCommit = (
  overlay: OverlayCheckout,
  worktree: EmptyWorktree,
): Effect.Effect<unknown, SandduneError> => {
  const { startIndexPath } = overlayPaths(overlay.directory);
  copyFileSync(overlay.shared.indexPath, startIndexPath);
  return Effect.scoped(
    Effect.flatMap(mountOverlay(overlay, worktree, { isWritable: true }), (mount) =>
      git(["read-tree", "-m", "-u", overlay.shared.commit, overlay.commit], {
        cwd: worktree.path,
        env: overlayEnvironment(worktree, startIndexPath),
        mount,
      }),
    ),
  );
};

/** Gives a sandbox git's index of the files that it starts with. The overlay keeps none: a large one is as large as many files. */
export const takeStartIndex = ({ directory, shared }: OverlayCheckout, to: string): void => {
  const { startIndexPath } = overlayPaths(directory);
  if (existsSync(startIndexPath)) renameSync(startIndexPath, to);
  else copyFileSync(shared.indexPath, to);
};

/**
 * Copies git's index of the shared checkout, as of the start of the run. Git trusts the times of files that are older than the
 * index, and an agent may change a file in the second in which it was written. So the copy must not look younger than the change.
 */
export const copySharedIndex = ({ directory, shared }: OverlayCheckout, to: string): void => {
  const startedAt = overlayRecordTime(directory);
  copyFileSync(shared.indexPath, to);
  utimesSync(to, startedAt, startedAt);
};

/** Writes git's index of a commit. It trusts only files of the shared checkout without a look at their content. */
export const writeIndex = Effect.fnUntraced(function* (
  overlay: OverlayCheckout,
  worktree: EmptyWorktree,
  commit: string,
  to: string,
): Effect.fn.Return<void, SandduneError> {
  const { shared } = overlay;
  copySharedIndex(overlay, to);
  if (shared.commit === commit) return;
  const options = { cwd: worktree.path, env: overlayEnvironment(worktree, to) };
  yield* git(["read-tree", "-i", "-m", shared.commit, commit], options).pipe(
    // The user may have deleted the other commit meanwhile. Git then looks at the content of all files.
    Effect.catch(() => git(["read-tree", commit], options)),
  );
});

/** Makes an overlay over a shared checkout, with the files of a commit, and those of a kept set-up. */
export const openOverlay = Effect.fnUntraced(function* (
  repository: Repository,
  config: readonly ConfigEntry[],
  {
    commit,
    worktree,
    kept,
    ...place
  }: Pick<OverlayCheckout, "directory" | "copyPath" | "commit"> & {
    readonly worktree: EmptyWorktree;
    readonly kept?: OverlaySetup | undefined;
  },
): Effect.fn.Return<OverlayCheckout, SandduneError> {
  const { directory } = place;
  const { upperPath, workPath } = overlayPaths(directory);
  const setup = kept?.isLayer ? kept.name : undefined;
  const mayUse = (other: string) => mayLieBelow(repository, kept, other);
  const { found: shared, record } = yield* Effect.scoped(
    lockSharedCheckouts(repository).pipe(
      Effect.andThen(openSharedCheckout(repository, config, commit, { directory, mayUse })),
      Effect.map((found) => {
        // The run's own files may be deleted while its overlay is mounted.
        if (setup !== undefined) noteUser(repository, join(setupsDirectory(repository), setup), directory);
        for (const path of [upperPath, workPath]) mkdirSync(path);
        copyFileSync(join(worktree.path, ".git"), join(upperPath, ".git"));
        const record = { shared: basename(found.path), commit, ...(setup !== undefined && { setup }) };
        writeOverlayRecord(directory, { ...record, isUnfinished: found.commit !== commit });
        return { found, record };
      }),
    ),
  );
  const layers = { lowerPath: shared.filesPath, ...layerOf(repository, setup), upperPath, workPath };
  const overlay = { ...place, layers, shared, commit };
  if (shared.commit !== commit) {
    yield* moveToCommit(overlay, worktree);
    writeOverlayRecord(directory, record);
  }
  return overlay;
});
