import { rmSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { BranchMovedError, ImportRefusedError, type SandduneError } from "../../errors.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { someOf } from "../../tools/someOf.ts";
import { git } from "../git.ts";
import { branchRef, resolveCommit } from "../refs.ts";
import { importCommits } from "../transfer/import/importCommits.ts";
import {
  type AgentGitDirectory,
  type ExportedGitDirectory,
  exportGitDirectory,
} from "./exportGitDirectory.ts";

export interface RecoveryTarget extends AgentGitDirectory {
  readonly runId: string;
  /** The checkout whose HEAD is moved, if that was detached. */
  readonly checkoutPath: string;
  /** Commits that imports of the run have put on the branch. */
  readonly importedCommits: readonly string[];
  /** Whether the agent may replace commits that were there before the run. */
  readonly allowsRewrite: boolean;
  /** A directory of the run's own, for what is needed while this lasts. */
  readonly filesDirectory: string;
}

/** What came of an import from a git directory whose sandbox is gone. */
export interface RecoveredCommits {
  /** Where the branch was before; `undefined` if there is no such branch. */
  readonly before: string | undefined;
  /** Where it is now. */
  readonly tip: string | undefined;
  /** What else there is to say, in sentences. */
  readonly warnings: readonly string[];
  /** Why the directory is still needed; `undefined` if everything in it was imported. */
  readonly problem: string | undefined;
}

/** Where the branch has to be, so that it may be moved to the agent's tip. */
const expectedTip = Effect.fnUntraced(function* (
  { base, importedCommits }: RecoveryTarget,
  { tip, isAncestor }: ExportedGitDirectory,
  current: string | undefined,
): Effect.fn.Return<string, SandduneError> {
  if (current === undefined || tip === undefined) return current ?? base;
  if (current === base || importedCommits.includes(current)) return current;
  // Commits of an import that the run could not write down any more, or commits that the agent has built on.
  return (yield* isAncestor(current, tip)) ? current : base;
});

/** Whether a ref of the host leads to all of them. */
const areHeld = (cwd: string, objects: readonly string[]): Effect.Effect<boolean, SandduneError> =>
  git(["rev-list", "--max-count=1", "--stdin", "--not", "--all"], {
    cwd,
    stdin: `${objects.join("\n")}\n`,
    // Some of them are not there at all.
    expectedExitCodes: [128],
  }).pipe(Effect.map(({ stdout, exitCode }) => exitCode === 0 && stdout === ""));

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
    // What the host is past already, and what cannot be told any more, moves nothing.
    isBehind ? { ...exported, tip: expected } : exported,
  ).pipe(
    Effect.map(({ warnings }) => ({ tip: isBehind ? current : tip, warnings })),
    Effect.catchIf(
      (error): error is BranchMovedError => error instanceof BranchMovedError,
      (error) => Effect.succeed({ tip: current, warnings: [error.message] }),
    ),
  );
  const isComplete = objects.length === 0 || (yield* areHeld(repository.topLevel, objects));
  const problems = isComplete
    ? exportedDirectory.problems
    : [...exportedDirectory.problems, "commits of other refs were left behind"];
  return { before: current, ...imported, problem: problems.length === 0 ? undefined : someOf(problems) };
});

/**
 * Imports what an agent had committed in a sandbox that is gone, from the git directory that the sandbox shared with the
 * host. What is refused stays there. If the branch has gone elsewhere meanwhile, the commits are kept by a ref of the run.
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
