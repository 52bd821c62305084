import type * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import type { StoredRun } from "../storedRun.ts";

/** Something that a run has left. */
export interface Leftover {
  readonly what:
    | "processes"
    | "sandbox"
    | "snapshot"
    | "interrupted merge"
    | "work"
    | "worktree"
    | "overlay"
    | "shared checkout"
    | "kept set-up"
    | "branch"
    | "ref"
    | "files"
    | "lock"
    | "record";
  /** A path, branch, ref or sandbox name; for work, the run. */
  readonly name: string;
  /** The runs that it belongs to; none for a lock. */
  readonly runIds: readonly string[];
  readonly detail: string;
  /** Why it stays; not set if it is removed. */
  readonly keptBecause?: string;
  /** It would be removed if the user named the run. */
  readonly goesIfNamed?: boolean;
  /** What is lost with it, because the user named it. */
  readonly loses?: string;
  readonly remove: Effect.Effect<void, SandduneError>;
}

/** What is cleaned up, and what is known so far. */
export interface CleanScope {
  readonly repository: Repository;
  /** Every run of the repository. */
  readonly runs: readonly StoredRun[];
  /** The runs to clean up after. None of them is running. */
  readonly selected: readonly StoredRun[];
  /** Runs that the user named: their work is removed, too. */
  readonly namedRuns: ReadonlySet<string>;
  /** Branches that the user named: they are removed with their worktrees, even if they are the result of a run. */
  readonly namedBranches: ReadonlySet<string>;
  /** Runs whose sandbox may still be running: their files are kept. */
  readonly unsettled: Set<string>;
  /** Runs that a preview does not recover: what would be left after the recovery is unknown. */
  readonly unrecovered: Set<string>;
  /** Why commits are still in the sandbox git directory of a recovered run, by run id. */
  readonly keptWork: Map<string, string>;
  /** Worktrees that are removed, or would be. */
  readonly goneWorktrees: Set<string>;
}

/** Keeps something for a reason, unless the user named it: then the reason says what is lost. */
export const unlessNamed = (
  isNamed: boolean,
  reason: string | undefined,
): Pick<Leftover, "keptBecause" | "goesIfNamed" | "loses"> => {
  if (reason === undefined) return {};
  return isNamed ? { loses: reason } : { keptBecause: reason, goesIfNamed: true };
};
