import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { OverlayMount } from "../../process/overlay/overlayMount.ts";
import { diffTree } from "../diffTree.ts";
import { git } from "../git.ts";
import { findOddEntries } from "../worktrees/oddEntries.ts";
import { hasChanges, hasFilledSubmodules, type StatusOptions } from "../worktrees/worktreeStatus.ts";
import { hiddenPaths } from "./hiddenPaths.ts";
import {
  copySharedIndex,
  type EmptyWorktree,
  mountOverlay,
  type OverlayCheckout,
  overlayEnvironment,
  writeIndex,
} from "./overlayCheckout.ts";
import { isNameable, MAX_PATHS, touchedPaths } from "./touchedPaths.ts";

const NO_FILE = "0".repeat(6);

interface OverlayState {
  readonly overlay: OverlayCheckout;
  readonly worktree: EmptyWorktree;
  readonly mount: OverlayMount;
  /** The commit that the files are compared with. */
  readonly tip: string;
  readonly indexPath: string;
}

const optionsOf = ({ worktree, mount, indexPath }: OverlayState): StatusOptions => ({
  mount,
  env: overlayEnvironment(worktree, indexPath),
});

/**
 * Compares only the paths where the files can differ: those that the upper directory has or hides, and those where the shared
 * checkout differs from the tip. All others are files of the shared checkout. `undefined` if the paths are many, or cannot be named.
 */
const hasChangesAtTouchedPaths = Effect.fnUntraced(function* (
  state: OverlayState,
): Effect.fn.Return<boolean | undefined, SandduneError> {
  const { overlay, worktree, mount, tip, indexPath } = state;
  const touched = touchedPaths(overlay.layers);
  if (touched === undefined) return undefined;
  const hidden = yield* hiddenPaths(overlay.layers, touched.mergedDirectories, mount, worktree.path);
  if (hidden === undefined) return undefined;
  const options = { ...optionsOf(state), cwd: worktree.path };
  const { commit } = overlay.shared;
  const changes = commit === tip ? [] : yield* diffTree(options, commit, tip);
  const paths = [...new Set([...touched.paths, ...hidden, ...changes.map(({ path }) => path)])];
  if (paths.length > MAX_PATHS || !paths.every(isNameable)) return undefined;
  if (paths.length === 0) return false;
  copySharedIndex(overlay, indexPath);
  const removed = changes.map(({ path }) => `${NO_FILE} ${"0".repeat(tip.length)}\t${path}\0`);
  const added = changes.flatMap(({ path, to }) => (to ? [`${to.mode} ${to.sha}\t${path}\0`] : []));
  if (changes.length > 0)
    yield* git(["update-index", "-z", "--index-info"], {
      ...options,
      stdin: [...removed, ...added].join(""),
    });
  return yield* hasChanges(worktree.path, options, paths);
});

const hasAnyChanges = Effect.fnUntraced(function* (
  state: OverlayState,
): Effect.fn.Return<boolean, SandduneError> {
  const { overlay, worktree, tip, indexPath } = state;
  yield* writeIndex(overlay, worktree, tip, indexPath);
  return yield* hasChanges(worktree.path, optionsOf(state));
});

/** Whether an overlay holds uncommitted work, if its branch is at `tip`. Fails if git cannot tell. */
export const isOverlayDirty = (
  overlay: OverlayCheckout,
  worktree: EmptyWorktree,
  tip: string,
): Effect.Effect<boolean, SandduneError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { upperPath } = overlay.layers;
      const { hasPipes, mayHaveRepositories } = yield* findOddEntries(upperPath);
      if (hasPipes) return true;
      const mount = yield* mountOverlay(overlay, worktree);
      // The worktree itself gets an index only when it gets files.
      const indexPath = join(overlay.directory, "status-index");
      const state = { overlay, worktree, mount, tip, indexPath };
      if ((yield* hasChangesAtTouchedPaths(state)) ?? (yield* hasAnyChanges(state))) return true;
      if (!mayHaveRepositories) return false;
      yield* writeIndex(overlay, worktree, tip, indexPath);
      return yield* hasFilledSubmodules(worktree.path, optionsOf(state), upperPath);
    }),
  );
