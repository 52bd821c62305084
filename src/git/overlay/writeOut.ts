import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { HostFileError, type SandduneError } from "../../errors.ts";
import { hostPath } from "../../process/hostPrograms.ts";
import { isRoot } from "../../process/overlay/layers.ts";
import type { OverlayMount } from "../../process/overlay/overlayMount.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { runProcess } from "../../process/runProcess.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { removalDraft } from "../worktrees/removalDraft.ts";
import { isDirty } from "../worktrees/worktreeStatus.ts";
import {
  discardOverlay,
  type EmptyWorktree,
  holdsFiles,
  mountOverlay,
  type OverlayCheckout,
  writeIndex,
} from "./overlayCheckout.ts";

/**
 * Copies everything as it is, and waits until it is on the disk: afterwards the overlay is removed. Only root can give files to other
 * users.
 */
const copyScript = (): string => {
  const attributes = isRoot() ? "-a" : "-dR --preserve=mode,timestamps,links";
  return `cp ${attributes} --reflink=auto -- "$1/." "$2" && sync -f -- "$2"`;
};

const copyAll = (mount: OverlayMount, from: string, to: string): Effect.Effect<void, SandduneError> =>
  interruptible(async (signal) => {
    const [program = "", ...args] = mount.inside(["sh", "-c", copyScript(), "sanddune", from, to]);
    const { exitCode, stderr } = await runProcess({
      program,
      args,
      cwd: "/",
      env: { PATH: hostPath(), LC_ALL: "C" },
      signal,
    });
    if (exitCode !== 0) {
      const code = /No space left/.test(stderr) ? "ENOSPC" : "EIO";
      throw new HostFileError(code, to, { cause: new Error(stderr.trim()) });
    }
  });

/** Says that the copy is complete, and identifies it: that stays the same when it is put into the worktree's place. */
const markIn = ({ directory }: Pick<OverlayCheckout, "directory">): string => join(directory, "copied");

/** The number of a deleted directory can be given to a new one, but not its time. */
const identityOf = (path: string): string | undefined => {
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return status && [status.dev, status.ino, status.birthtimeNs].join(":");
};

/**
 * Whether an overlay was written out to its worktree, by a run that died before it removed the overlay. Files in the worktree are no
 * evidence: the user may have asked git to restore them. Nor is a missing copy, which the user may have deleted.
 */
export const isWrittenOut = (overlay: Pick<OverlayCheckout, "directory">, worktreePath: string): boolean => {
  const mark = orUndefined(() => readFileSync(markIn(overlay), "utf8"));
  return mark !== undefined && mark === identityOf(worktreePath) && holdsFiles(worktreePath);
};

/** Fails if the user has written files to the worktree, unless git has them all. */
const requireReplaceable = Effect.fnUntraced(function* ({
  path,
}: EmptyWorktree): Effect.fn.Return<void, SandduneError> {
  if (!holdsFiles(path) || !(yield* isDirty(path))) return;
  const cause = new Error("the worktree of an overlay holds files");
  yield* Effect.fail(new HostFileError("ENOTEMPTY", path, { cause }));
});

/**
 * Puts the copy into the place of the empty worktree, after the index that the run started with. The agent cannot write to the
 * `.git` file; nevertheless it is written anew.
 */
const putInPlace = async (
  overlay: OverlayCheckout,
  { path, gitDirectory }: EmptyWorktree,
  { copy, indexDraft }: { readonly copy: string; readonly indexDraft: string },
): Promise<void> => {
  rmSync(join(copy, ".git"), { recursive: true, force: true });
  writeFileSync(join(copy, ".git"), `gitdir: ${gitDirectory}\n`, { flag: "wx" });
  renameSync(indexDraft, join(gitDirectory, "index"));
  writeFileSync(markIn(overlay), identityOf(copy) ?? "");
  const aside = removalDraft(dirname(path));
  renameSync(path, aside);
  renameSync(copy, path);
  await removeDirectory(aside);
};

/**
 * Writes an overlay out as a real worktree, with everything in it, and removes the overlay. If this process dies meanwhile, the
 * overlay still exists, and a second call begins again. Resolves with the directory that could not be deleted, if any.
 */
export const writeOutOverlay = Effect.fnUntraced(function* (
  overlay: OverlayCheckout,
  worktree: EmptyWorktree,
): Effect.fn.Return<string | undefined, SandduneError> {
  yield* requireReplaceable(worktree);
  const { copyPath: copy } = overlay;
  yield* interruptible(async () => {
    rmSync(markIn(overlay), { force: true });
    await removeDirectory(copy);
    // The user may have deleted the run's own files.
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
    mkdirSync(copy, { mode: lstatSync(overlay.layers.lowerPath).mode & 0o777 });
  });
  // Before the copy, which waits until everything is on the disk.
  const indexDraft = join(worktree.gitDirectory, "index.sanddune");
  yield* writeIndex(overlay, worktree, overlay.commit, indexDraft);
  yield* Effect.scoped(
    Effect.flatMap(mountOverlay(overlay, worktree), (mount) => copyAll(mount, worktree.path, copy)),
    // On a full disk, a part of a copy would keep the user from trying again.
  ).pipe(Effect.onError(() => Effect.ignore(interruptible(() => removeDirectory(copy)))));
  yield* interruptible(() => putInPlace(overlay, worktree, { copy, indexDraft }));
  return yield* discardOverlay(overlay.directory);
});
