import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { type Change, diffTree, SUBMODULE, SYMBOLIC_LINK } from "./diffTree.ts";
import { foldPath } from "./foldPath.ts";
import { gitText } from "./git.ts";
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

/** The targets of links, in the same order. */
const readLinks = (cwd: string, links: readonly Change[]): Effect.Effect<string[], SandduneError> =>
  Effect.forEach(links, ({ to }) => gitText(["cat-file", "blob", to?.sha ?? ""], { cwd }), {
    concurrency: 4,
  });

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
  const changed = yield* diffTree({ cwd }, base, tip);
  const links = changed.filter(({ to }) => to?.mode === SYMBOLIC_LINK);
  const targets = links.length > MAX_READ_LINKS ? [] : yield* readLinks(cwd, links);
  const leaving = new Set(
    links.filter(({ path }, index) => leavesRepository(path, targets[index] ?? "/")).map(({ path }) => path),
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
