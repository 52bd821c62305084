import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { type GitOptions, git } from "./git.ts";
import { nulSeparated } from "./output.ts";

export const SYMBOLIC_LINK = "120000";
export const SUBMODULE = "160000";
const NO_FILE = "000000";

/** A file in a commit or in the index. */
export interface GitFile {
  readonly mode: string;
  readonly sha: string;
}

/** A file that differs between two commits. */
export interface Change {
  readonly path: string;
  /** `undefined` where a commit does not have the file. */
  readonly from: GitFile | undefined;
  readonly to: GitFile | undefined;
}

const fileOf = (mode = NO_FILE, sha = ""): GitFile | undefined =>
  mode === NO_FILE ? undefined : { mode, sha };

/** The files that differ between two commits, with submodules. */
export const diffTree = (
  options: GitOptions,
  from: string,
  to: string,
): Effect.Effect<Change[], SandduneError> =>
  git(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none", from, to], options).pipe(
    Effect.map(({ stdout }) => {
      const fields = stdout.split("\0");
      const changes: Change[] = [];
      for (let at = 0; at + 1 < fields.length; at += 2) {
        const [oldMode, newMode, oldSha, newSha] = (fields[at] as string).slice(1).split(" ");
        changes.push({
          path: fields[at + 1] as string,
          from: fileOf(oldMode, oldSha),
          to: fileOf(newMode, newSha),
        });
      }
      return changes;
    }),
  );

/** The paths that `git diff-tree` lists for these arguments. */
export const changedPaths = (cwd: string, ...args: string[]): Effect.Effect<string[], SandduneError> =>
  git(["diff-tree", "-z", "--no-renames", "--name-only", ...args], { cwd }).pipe(
    Effect.map(({ stdout }) => nulSeparated(stdout)),
  );
