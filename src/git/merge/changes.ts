import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { type Change, diffTree, type GitFile, SUBMODULE } from "../diffTree.ts";
import { git } from "../git.ts";
import { fromText } from "../output.ts";

const isSubmodule = (file: GitFile | undefined): boolean => file?.mode === SUBMODULE;

export const isSameFile = (one: GitFile | undefined, other: GitFile | undefined): boolean =>
  one?.mode === other?.mode && one?.sha === other?.sha;

/** The difference between two commits, as an import has read it. */
export interface KnownChange {
  readonly from: string;
  /** Builds on `from`. */
  readonly to: string;
  /** The files that differ, with submodules. */
  readonly files: readonly Change[];
}

/** The same change, if it is the one between these two commits. */
export const ifBetween = (
  known: KnownChange | undefined,
  from: string,
  to: string,
): KnownChange | undefined => (known?.from === from && known.to === to ? known : undefined);

/** Decoded names have lost bytes that are not UTF-8. */
const isWhole = ({ path }: Change): boolean => !path.includes("\ufffd");

/** The files that differ between two commits, without submodules, which a merge does not check out. Paths are `latin1`. */
export const changedFiles = (
  cwd: string,
  from: string,
  to: string,
  known?: KnownChange,
): Effect.Effect<Change[], SandduneError> => {
  const files = ifBetween(known, from, to)?.files;
  const changed = files?.every(isWhole)
    ? Effect.succeed(files.map((change) => ({ ...change, path: fromText(change.path) })))
    : diffTree({ cwd, encoding: "latin1" }, from, to);
  return Effect.map(changed, (changes) =>
    changes.filter((change) => !isSubmodule(change.from) && !isSubmodule(change.to)),
  );
};

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
