import { posix } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import { nulSeparated } from "../output.ts";

/** A folder in a commit. */
export interface CommittedFolder {
  /** The repository's top level. */
  readonly topLevel: string;
  readonly commit: string;
  /** Relative to the top level, with slashes; empty for the top level itself. */
  readonly path: string;
}

/** The revision of the folder's tree. */
export const treeOf = ({ commit, path }: CommittedFolder): string => `${commit}:${path}`;

const UNKNOWN_OBJECT = 128;

/** The names in the folder; `undefined` if the commit has no such folder. */
export const namesIn = (
  folder: CommittedFolder,
): Effect.Effect<readonly string[] | undefined, SandduneError> =>
  git(["ls-tree", "--name-only", "-z", treeOf(folder)], {
    cwd: folder.topLevel,
    expectedExitCodes: [UNKNOWN_OBJECT],
  }).pipe(Effect.map(({ exitCode, stdout }) => (exitCode === 0 ? nulSeparated(stdout) : undefined)));

/** The content of a file in the folder. */
export const readFileIn = (folder: CommittedFolder, name: string): Effect.Effect<string, SandduneError> =>
  git(["cat-file", "blob", `${folder.commit}:${posix.join(folder.path, name)}`], {
    cwd: folder.topLevel,
  }).pipe(Effect.map(({ stdout }) => stdout));

/** Paths in the checkout that differ from the commit, relative to the folder. */
export interface UncommittedFiles {
  readonly changed: readonly string[];
  /** Directories have a slash at the end. */
  readonly ignored: readonly string[];
}

const STATUS = [
  ...["--literal-pathspecs", "status", "--porcelain", "-z", "--no-renames"],
  ...["--untracked-files=all", "--ignored=matching", "--ignore-submodules=all", "--"],
];

/** Compares the folder in the checkout with the commit of HEAD. */
export const uncommittedIn = ({
  topLevel,
  path,
}: CommittedFolder): Effect.Effect<UncommittedFiles, SandduneError> =>
  git([...STATUS, path || "."], { cwd: topLevel }).pipe(
    Effect.map(({ stdout }) => {
      const entries = nulSeparated(stdout).map((entry) => ({
        isIgnored: entry.startsWith("!!"),
        path: path === "" ? entry.slice(3) : entry.slice(3 + path.length + 1),
      }));
      const pathsOf = (isIgnored: boolean) =>
        entries.filter((entry) => entry.isIgnored === isIgnored).map((entry) => entry.path);
      return { changed: pathsOf(false), ignored: pathsOf(true) };
    }),
  );

/** Whether the folder differs in another commit. */
export const isDifferentIn = (
  { topLevel, commit, path }: CommittedFolder,
  other: string,
): Effect.Effect<boolean, SandduneError> =>
  git(["--literal-pathspecs", "diff-tree", "--quiet", commit, other, "--", path || "."], {
    cwd: topLevel,
    expectedExitCodes: [1],
  }).pipe(Effect.map(({ exitCode }) => exitCode !== 0));
