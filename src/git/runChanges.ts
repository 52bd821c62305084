import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { type CommitDescription, DESCRIPTION_FORMAT, parseDescriptions } from "./commitDescription.ts";
import { type Change, diffTree, SUBMODULE, SYMBOLIC_LINK } from "./diffTree.ts";
import { foldPath } from "./foldPath.ts";
import { gitText } from "./git.ts";
import { readLinkTargets } from "./linkTargets.ts";
import { readingObjects } from "./longLived/sharedGit.ts";
import { findBareRepositories } from "./nestedRepositories/bareInTree.ts";
import { isProtectedLink, isProtectedPath, leavesRepository } from "./protectedPaths.ts";

/** The commits of a run. */
export interface RunHistory {
  /** Oldest first: those in the history of the tip that the host did not have before. */
  readonly commits: CommitDescription[];
  /** The parents of these commits. */
  readonly parents: ReadonlySet<string>;
}

export const readRunHistory = (
  cwd: string,
  tip: string,
  knownCommits: readonly string[],
): Effect.Effect<RunHistory, SandduneError> =>
  gitText(
    [
      ...["rev-list", "--ignore-missing", "--reverse", "--topo-order", "--no-commit-header"],
      ...[DESCRIPTION_FORMAT, "--stdin"],
    ],
    { cwd, stdin: `${tip}\n${knownCommits.map((sha) => `^${sha}\n`).join("")}` },
  ).pipe(
    Effect.map((output) => {
      const commits = parseDescriptions(output);
      return { commits, parents: new Set(commits.flatMap(({ parents }) => parents)) };
    }),
  );

export const listRunCommits = (
  cwd: string,
  tip: string,
  knownCommits: readonly string[],
): Effect.Effect<string[], SandduneError> =>
  Effect.map(readRunHistory(cwd, tip, knownCommits), ({ commits }) => commits.map(({ sha }) => sha));

/** The files that differ, and the targets of links among them as far as they were read. */
interface ChangedFiles {
  readonly files: readonly Change[];
  readonly linkTargets: ReadonlyMap<string, string>;
}

const readChanges = Effect.fnUntraced(function* (
  cwd: string,
  base: string,
  tip: string,
): Effect.fn.Return<ChangedFiles, SandduneError> {
  const files = yield* diffTree({ cwd }, base, tip);
  return { files, linkTargets: yield* readingObjects(cwd, (reader) => readLinkTargets(reader, files)) };
});

/** The changes of a run that a person should review. */
export interface RunChanges {
  /**
   * Protected files, files that grade an agent's work, symbolic links that lead out of the repository, submodules, and
   * directories that git would use as bare repositories.
   */
  readonly protectedPaths: readonly string[];
  /** Directories that have become submodules. */
  readonly newSubmodules: readonly string[];
}

export const inspectChanges = Effect.fnUntraced(function* (
  cwd: string,
  base: string,
  tip: string,
  /** Files and folders that grade an agent's work. */
  gradingPaths: Iterable<string> = [],
  /** The files that differ, if they are known. */
  known?: ChangedFiles,
): Effect.fn.Return<RunChanges, SandduneError> {
  const { files: changed, linkTargets } = known ?? (yield* readChanges(cwd, base, tip));
  const links = changed.filter(({ to }) => to?.mode === SYMBOLIC_LINK);
  // A link that was not read counts as leaving.
  const leaving = new Set(
    links.filter(({ path }) => leavesRepository(path, linkTargets.get(path) ?? "/")).map(({ path }) => path),
  );
  const grading = [...gradingPaths].map((path) => `${foldPath(path)}/`);
  const isProtected = ({ path, to }: Change) =>
    to?.mode === SUBMODULE ||
    leaving.has(path) ||
    isProtectedPath(path) ||
    (to?.mode === SYMBOLIC_LINK && isProtectedLink(path)) ||
    grading.some((prefix) => `${foldPath(path)}/`.startsWith(prefix));
  const paths = changed.map(({ path }) => path);
  return {
    protectedPaths: [
      ...changed.filter(isProtected).map(({ path }) => path),
      ...(yield* findBareRepositories(cwd, base, tip, paths)),
    ],
    newSubmodules: changed
      .filter(({ from, to }) => to?.mode === SUBMODULE && from?.mode !== SUBMODULE)
      .map(({ path }) => path),
  };
});
