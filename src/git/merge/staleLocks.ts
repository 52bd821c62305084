import { lstatSync, rmSync } from "node:fs";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { hostSystem } from "../../process/host/system.ts";
import { entryExists } from "../../tools/files/entries.ts";
import { gitText } from "../git.ts";
import { branchRef } from "../refs.ts";
import type { FoundNote } from "./mergeNote.ts";

/** The existing lock files that git uses when it moves a checkout and its branch. */
const lockPaths = Effect.fnUntraced(function* ({
  checkoutPath,
  targetBranch,
}: FoundNote): Effect.fn.Return<string[], SandduneError> {
  const names = [
    "index.lock",
    "HEAD.lock",
    ...(targetBranch === undefined ? [] : [`${branchRef(targetBranch)}.lock`]),
  ];
  const paths = yield* Effect.forEach(names, (name) =>
    gitText(["rev-parse", "--path-format=absolute", "--git-path", name], { cwd: checkoutPath }),
  );
  return paths.filter(entryExists);
});

/** Whether a git process works in the checkout, and may hold a lock. */
const mayBeHeld = (checkoutPath: string): boolean =>
  hostSystem()
    .findInDirectory(checkoutPath)
    .some((pid) => hostSystem().findProcess(pid)?.name.startsWith("git"));

/**
 * Removes the locks of an interrupted merge, and returns locks that may belong to another git: those older than the
 * merge, and all of them while a git process works in the checkout. Git never takes over a lock, so every other lock
 * belongs to the merge.
 */
export const removeStaleLocks = (
  note: FoundNote,
  { dryRun }: { readonly dryRun: boolean },
): Effect.Effect<string[], SandduneError> =>
  lockPaths(note).pipe(
    Effect.map((paths) => {
      const isUsed = paths.length > 0 && mayBeHeld(note.checkoutPath);
      return paths.filter((path) => {
        const status = lstatSync(path, { throwIfNoEntry: false });
        if (status === undefined) return false;
        if (isUsed || !status.isFile() || status.mtimeMs < note.writtenAtMs) return true;
        if (!dryRun) rmSync(path, { force: true });
        return false;
      });
    }),
  );
