import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";
import { hasPipes } from "./oddEntries.ts";

/** The differences between a directory and a commit. */
export interface DirectoryContent {
  /** Files that are neither in the commit nor ignored. */
  readonly hasNewFiles: boolean;
  /** Files that differ from the commit's. Missing files do not count. */
  readonly hasChangedFiles: boolean;
}

/** Compares the files of a directory that is not registered as a worktree with a commit. */
export const compareWithCommit = Effect.fnUntraced(function* (
  { commonDirectory }: Repository,
  path: string,
  commit: string,
): Effect.fn.Return<DirectoryContent, SandduneError> {
  if (yield* hasPipes(path)) return { hasNewFiles: true, hasChangedFiles: true };
  const directory = join(commonDirectory, "sanddune");
  mkdirSync(directory, { recursive: true });
  const indexPath = join(directory, `index-${randomBytes(6).toString("hex")}`);
  const options = {
    cwd: path,
    env: { GIT_DIR: commonDirectory, GIT_WORK_TREE: path, GIT_INDEX_FILE: indexPath },
  };
  const lists = Effect.fnUntraced(function* (...args: string[]) {
    return (yield* git(args, options)).stdout !== "";
  });
  return yield* Effect.gen(function* () {
    yield* git(["read-tree", commit], options);
    yield* git(["update-index", "-q", "--refresh"], { ...options, expectedExitCodes: [1] });
    return {
      hasNewFiles: yield* lists("ls-files", "-z", "--others", "--exclude-standard"),
      hasChangedFiles: yield* lists(
        ...["diff-files", "-z", "--name-only", "--diff-filter=d", "--ignore-submodules=all"],
      ),
    };
  }).pipe(Effect.ensuring(Effect.sync(() => rmSync(indexPath, { force: true }))));
});
