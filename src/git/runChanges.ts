import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { foldPath } from "./foldPath.ts";
import { git, gitText } from "./git.ts";
import { findBareRepositories } from "./nestedRepositories/bareInTree.ts";
import { isProtectedLink, isProtectedPath, leavesRepository } from "./protectedPaths.ts";

/** The run's commits, oldest first: those in the history of `tip` that the host did not have before. */
export const listRunCommits = (
  cwd: string,
  tip: string,
  knownCommits: readonly string[],
): Effect.Effect<string[], SandduneError> =>
  gitText(["rev-list", "--ignore-missing", "--reverse", "--topo-order", "--stdin"], {
    cwd,
    stdin: `${tip}\n${knownCommits.map((sha) => `^${sha}\n`).join("")}`,
  }).pipe(Effect.map((output) => output.split("\n").filter((line) => line !== "")));

const SYMBOLIC_LINK = "120000";
const SUBMODULE = "160000";

interface ChangedPath {
  readonly path: string;
  readonly modeBefore: string;
  readonly mode: string;
  readonly object: string;
}

const parseRawDiff = (output: string): ChangedPath[] => {
  const fields = output.split("\0");
  const changed: ChangedPath[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [modeBefore = "", mode = "", , object = ""] = (fields[index] as string).slice(1).split(" ");
    changed.push({ path: fields[index + 1] as string, modeBefore, mode, object });
  }
  return changed;
};

/** The targets of links, in the same order. */
const readLinks = (cwd: string, links: readonly ChangedPath[]): Effect.Effect<string[], SandduneError> =>
  Effect.forEach(links, ({ object }) => gitText(["cat-file", "blob", object], { cwd }), { concurrency: 4 });

/** If a run changes more links than this, all of them are reported without being read. */
const MAX_READ_LINKS = 100;

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
): Effect.fn.Return<RunChanges, SandduneError> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none", base, tip];
  const changed = parseRawDiff((yield* git(args, { cwd })).stdout);
  const links = changed.filter(({ mode }) => mode === SYMBOLIC_LINK);
  const targets = links.length > MAX_READ_LINKS ? [] : yield* readLinks(cwd, links);
  const leaving = new Set(
    links.filter(({ path }, index) => leavesRepository(path, targets[index] ?? "/")).map(({ path }) => path),
  );
  const grading = [...gradingPaths].map((path) => `${foldPath(path)}/`);
  const isProtected = ({ path, mode }: ChangedPath) =>
    mode === SUBMODULE ||
    leaving.has(path) ||
    isProtectedPath(path) ||
    (mode === SYMBOLIC_LINK && isProtectedLink(path)) ||
    grading.some((prefix) => `${foldPath(path)}/`.startsWith(prefix));
  const paths = changed.map(({ path }) => path);
  return {
    protectedPaths: [
      ...changed.filter(isProtected).map(({ path }) => path),
      ...(yield* findBareRepositories(cwd, base, tip, paths)),
    ],
    newSubmodules: changed
      .filter(({ mode, modeBefore }) => mode === SUBMODULE && modeBefore !== SUBMODULE)
      .map(({ path }) => path),
  };
});
