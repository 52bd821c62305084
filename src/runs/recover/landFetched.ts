import * as Effect from "effect/Effect";
import { BranchMovedError, type SandduneError } from "../../errors.ts";
import { isAncestor, isGitError } from "../../git/refs.ts";
import type { SandboxExport } from "../../git/transfer/export/fetchBundles.ts";
import { importCommits } from "../../git/transfer/import/importCommits.ts";
import type { StoredRun } from "../storedRun.ts";

/** What became of the branch. */
export interface LandedWork {
  /** Where the branch is; `undefined` if there is none. */
  readonly tip: string | undefined;
  readonly uncommitted: string | undefined;
  readonly warnings: readonly string[];
  /** The branch is where the sandbox has it. */
  readonly isMoved: boolean;
}

/**
 * Moves the branch, unless that would take commits from it which are not the run's: since the run is over, anybody may have
 * gone on with the branch, or deleted it. Then the commits are kept by a ref of the run.
 */
export const landFetched = Effect.fnUntraced(function* (
  cwd: string,
  { runId, commits }: StoredRun,
  { branch, base, before }: { readonly branch: string; readonly base: string; readonly before?: string },
  exported: SandboxExport,
): Effect.fn.Return<LandedWork, SandduneError> {
  const { tip } = exported;
  const isBehind =
    tip !== undefined &&
    before !== undefined &&
    (yield* isAncestor(cwd, tip, before).pipe(Effect.catchIf(isGitError, () => Effect.succeed(false))));
  const isOfRun = before === base || (before !== undefined && commits.includes(before));
  const target = {
    cwd,
    runId,
    branch,
    base: before ?? base,
    expectedTip: (isBehind ? tip : before) ?? base,
    allowsRewrite: isOfRun,
  };
  return yield* importCommits(target, exported).pipe(
    Effect.map((imported) => ({
      ...imported,
      tip: isBehind ? before : imported.tip,
      isMoved: !isBehind || tip === before,
    })),
    Effect.catchIf(
      (error): error is BranchMovedError => error instanceof BranchMovedError,
      ({ message }) =>
        Effect.succeed({
          tip: before,
          uncommitted: exported.uncommitted,
          warnings: [message],
          isMoved: false,
        }),
    ),
  );
});
