import * as Effect from "effect/Effect";
import { BranchMovedError, type SandduneError } from "../../errors.ts";
import { isAncestor, isGitError } from "../../git/refs.ts";
import type { SandboxExport } from "../../git/transfer/export/fetchBundles.ts";
import { importCommits } from "../../git/transfer/import/importCommits.ts";
import type { StoredRun } from "../storedRun.ts";

/** Where the branch is after the import. */
export interface LandedWork {
  /** The tip of the branch; `undefined` if it does not exist. */
  readonly tip: string | undefined;
  readonly uncommitted: string | undefined;
  readonly warnings: readonly string[];
  /** The branch has the same tip as in the sandbox. */
  readonly isMoved: boolean;
}

/**
 * Moves the branch, unless that would remove commits that are not the run's: the branch may have been changed or deleted
 * since the run ended. In that case a ref of the run keeps the commits.
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
