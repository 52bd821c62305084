import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { type Change, diffTree, type GitFile, SUBMODULE } from "../diffTree.ts";
import { git } from "../git.ts";

const isSubmodule = (file: GitFile | undefined): boolean => file?.mode === SUBMODULE;

export const isSameFile = (one: GitFile | undefined, other: GitFile | undefined): boolean =>
  one?.mode === other?.mode && one?.sha === other?.sha;

/** The files that differ between two commits, without submodules, which a merge does not check out. Paths are `latin1`. */
export const changedFiles = (cwd: string, from: string, to: string): Effect.Effect<Change[], SandduneError> =>
  diffTree({ cwd, encoding: "latin1" }, from, to).pipe(
    Effect.map((changes) => changes.filter((change) => !isSubmodule(change.from) && !isSubmodule(change.to))),
  );

/** A file in the index; `isSparse` if a sparse checkout leaves it out. */
export interface IndexEntry extends GitFile {
  readonly isSparse: boolean;
}

/** The index of a checkout, by path. An unmerged file has one entry, which differs from every commit's. */
export const readIndex = (cwd: string): Effect.Effect<Map<string, IndexEntry>, SandduneError> =>
  git(["ls-files", "-t", "--stage", "-z"], { cwd, encoding: "latin1" }).pipe(
    Effect.map(({ stdout }) => {
      const entries = new Map<string, IndexEntry>();
      for (const line of stdout.split("\0")) {
        const tab = line.indexOf("\t");
        if (tab < 0) continue;
        const [tag, mode = "", sha = "", stage] = line.slice(0, tab).split(" ");
        const isMerged = stage === "0";
        entries.set(line.slice(tab + 1), {
          mode: isMerged ? mode : "unmerged",
          sha,
          isSparse: tag === "S",
        });
      }
      return entries;
    }),
  );
