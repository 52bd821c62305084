import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";

/** A file in a commit or in the index. */
export interface GitFile {
  readonly mode: string;
  readonly sha: string;
}

/** A file that differs between two commits. Names are `latin1`, which preserves any bytes. */
export interface Change {
  readonly path: string;
  /** `undefined` where a commit does not have the file. */
  readonly from: GitFile | undefined;
  readonly to: GitFile | undefined;
}

const GITLINK = "160000";
const NO_FILE = "000000";

const fileOf = (mode: string, sha: string): GitFile | undefined =>
  mode === NO_FILE ? undefined : { mode, sha };

export const isSameFile = (one: GitFile | undefined, other: GitFile | undefined): boolean =>
  one?.mode === other?.mode && one?.sha === other?.sha;

/** The files that differ between two commits, without submodules, which a merge does not check out. */
export const changedFiles = (cwd: string, from: string, to: string): Effect.Effect<Change[], SandduneError> =>
  git(["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to], { cwd, encoding: "latin1" }).pipe(
    Effect.map(({ stdout }) => {
      const fields = stdout.split("\0");
      const changes: Change[] = [];
      for (let at = 0; at + 1 < fields.length; at += 2) {
        const [oldMode = "", newMode = "", oldSha = "", newSha = ""] = (fields[at] as string)
          .slice(1)
          .split(" ");
        if (oldMode === GITLINK || newMode === GITLINK) continue;
        changes.push({
          path: fields[at + 1] as string,
          from: fileOf(oldMode, oldSha),
          to: fileOf(newMode, newSha),
        });
      }
      return changes;
    }),
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
