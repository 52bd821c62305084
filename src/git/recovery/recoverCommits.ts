import { rmSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { BranchMovedError, ImportRefusedError, type SandduneError } from "../../errors.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { someOf } from "../../tools/someOf.ts";
import { branchRef, resolveCommit } from "../refs.ts";
import { importCommits } from "../transfer/import/importCommits.ts";
import {
  type AgentGitDirectory,
  type ExportedGitDirectory,
  exportGitDirectory,
} from "./exportGitDirectory.ts";
import { areReachable } from "./unimportedCommits.ts";

export interface RecoveryTarget extends AgentGitDirectory {
  readonly runId: string;
  /** The checkout whose HEAD is moved if it was detached. */
  readonly checkoutPath: string;
  /** Tips of the branch after earlier imports of the run. */
  readonly importedCommits: readonly string[];
  /** Whether the agent may rewrite commits from before the run. */
  readonly allowsRewrite: boolean;
  /** A directory of the run, for temporary files. */
  readonly filesDirectory: string;
}

/** The result of recovering commits. */
export interface RecoveredCommits {
  /** The former tip of the branch; `undefined` if the branch does not exist. */
  readonly before: string | undefined;
  /** The tip of the branch now. */
  readonly tip: string | undefined;
  /** Sentences for the user. */
  readonly warnings: readonly string[];
  /** Why the directory is still needed; `undefined` if everything in it was imported. */
  readonly problem: string | undefined;
}

/** The tip that the branch must have to be moved to the agent's tip. */
const expectedTip = Effect.fnUntraced(function* (
  { base, importedCommits }: RecoveryTarget,
  { tip, isAncestor }: ExportedGitDirectory,
  current: string | undefined,
): Effect.fn.Return<string, SandduneError> {
  if (current === undefined || tip === undefined) return current ?? base;
  if (current === base || importedCommits.includes(current)) return current;
  // The branch may be at a commit that the run imported without recording it, or that the agent has built on.
  return (yield* isAncestor(current, tip)) ? current : base;
});

const attempt = Effect.fnUntraced(function* (
  target: RecoveryTarget,
  scratchPath: string,
  bundlePath: string,
): Effect.fn.Return<RecoveredCommits, SandduneError> {
  const { repository, branch, runId, base, allowsRewrite } = target;
  const cwd = branch === undefined ? target.checkoutPath : repository.topLevel;
  const current = yield* resolveCommit(cwd, branch === undefined ? "HEAD" : branchRef(branch));
  const exportedDirectory = yield* exportGitDirectory(target, scratchPath, bundlePath);
  const { tip, exported, objects } = exportedDirectory;
  const isBehind =
    tip === undefined || (current !== undefined && (yield* exportedDirectory.isAncestor(tip, current)));
  const expected = yield* expectedTip(target, exportedDirectory, current);
  const imported = yield* importCommits(
    { cwd, runId, branch, base, expectedTip: expected, allowsRewrite },
    // A branch that has the commits already, or whose tip in the sandbox is unknown, is not moved.
    isBehind ? { ...exported, tip: expected } : exported,
  ).pipe(
    Effect.map(({ warnings }) => ({ tip: isBehind ? current : tip, warnings })),
    Effect.catchIf(
      (error): error is BranchMovedError => error instanceof BranchMovedError,
      (error) => Effect.succeed({ tip: current, warnings: [error.message] }),
    ),
  );
  const isComplete = objects.length === 0 || (yield* areReachable(repository.topLevel, objects));
  const problems = isComplete
    ? exportedDirectory.problems
    : [...exportedDirectory.problems, "commits of other refs were left behind"];
  return { before: current, ...imported, problem: problems.length === 0 ? undefined : someOf(problems) };
});

/**
 * Imports the commits of a sandbox that has ended from the git directory that it shared with the host. Refused commits
 * stay in that directory. If the branch has moved meanwhile, a ref of the run keeps the commits.
 */
export const recoverCommits = (target: RecoveryTarget): Effect.Effect<RecoveredCommits, SandduneError> => {
  const scratchPath = join(target.filesDirectory, "recovery");
  const bundlePath = join(target.filesDirectory, "recovery.bundle");
  const tidy = interruptible(async () => {
    await removeDirectory(scratchPath);
    rmSync(bundlePath, { force: true });
  });
  return tidy.pipe(
    Effect.andThen(attempt(target, scratchPath, bundlePath)),
    Effect.ensuring(Effect.ignore(tidy)),
    Effect.catchIf(
      (error): error is ImportRefusedError => error instanceof ImportRefusedError,
      ({ problem }) => Effect.succeed({ before: undefined, tip: undefined, warnings: [], problem }),
    ),
  );
};
