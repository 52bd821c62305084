import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import { nulSeparated } from "../output.ts";
import type { Repository } from "../repository.ts";
import type { SetupRecord } from "./keptSetup.ts";
import { LITERAL } from "./keyFiles.ts";

/** The directories that a path is in. */
const parentsOf = (path: string): string[] => {
  const parts = path.replace(/\/$/, "").split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
};

/** Far below the limit of an argv. */
const MAX_PATHS = 2000;

type FilesOfSetup = Pick<SetupRecord, "commit" | "paths">;

const pathsOf = ({ paths }: FilesOfSetup): string[] => paths.map((path) => path.replace(/\/$/, ""));

/** Why git cannot be asked about paths. */
const unaskable = (paths: readonly string[]): string | undefined => {
  if (paths.length > MAX_PATHS) return "its files are in too many places";
  // Arguments cannot have any bytes.
  return paths.every((path) => /^[\x20-\x7e]*$/.test(path)) ? undefined : "its paths have unusual characters";
};

/** The modes of the paths that a commit has, and of the directories that they are in. */
const modesIn = (
  { topLevel }: Pick<Repository, "topLevel">,
  commit: string,
  paths: readonly string[],
): Effect.Effect<ReadonlyMap<string, string>, SandduneError> =>
  git(["ls-tree", "--full-tree", "-t", "-z", commit, "--", ...paths], { cwd: topLevel, env: LITERAL }).pipe(
    Effect.map(
      ({ stdout }) =>
        new Map(
          nulSeparated(stdout).map((line) => [line.slice(line.indexOf("\t") + 1), line.slice(0, 6)] as const),
        ),
    ),
  );

/**
 * Why the files of a kept set-up cannot lie among those of another commit; `undefined` if they can. The commit must have none of
 * them, and each of their directories: a link in the place of one could lead anywhere.
 */
export const misfit = Effect.fnUntraced(function* (
  repository: Pick<Repository, "topLevel">,
  record: FilesOfSetup,
  commit: string,
): Effect.fn.Return<string | undefined, SandduneError> {
  if (record.commit === commit || record.paths.length === 0) return undefined;
  const parents = new Set(record.paths.flatMap(parentsOf));
  const own = pathsOf(record);
  const all = [...own, ...parents];
  const problem = unaskable(all);
  if (problem !== undefined) return problem;
  const modes = yield* modesIn(repository, commit, all);
  const tracked = own.find((path) => modes.has(path));
  if (tracked !== undefined) return `the commit has a file ${tracked} of its own`;
  const missing = [...parents].find((path) => modes.get(path) !== "040000");
  return missing && `the commit has no directory ${missing}`;
});

/**
 * Whether a shared checkout of a commit can lie below the files of a kept set-up. A run on another commit deletes files from it, and
 * would delete kept files at the same paths.
 */
export const canLieBelow = (
  repository: Pick<Repository, "topLevel">,
  record: FilesOfSetup,
  commit: string,
): Effect.Effect<boolean, SandduneError> => {
  const own = pathsOf(record);
  if (record.commit === commit || own.length === 0) return Effect.succeed(true);
  if (unaskable(own) !== undefined) return Effect.succeed(false);
  return Effect.map(modesIn(repository, commit, own), (modes) => !own.some((path) => modes.has(path)));
};
