import type * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import type { StoredRun } from "../storedRun.ts";

/** One thing that a run has left behind. */
export interface Leftover {
  readonly what:
    | "processes"
    | "sandbox"
    | "interrupted merge"
    | "work"
    | "worktree"
    | "branch"
    | "ref"
    | "files"
    | "lock"
    | "record";
  /** A path, a branch, a ref, what a sandbox is called; of work, the run. */
  readonly name: string;
  /** The runs that it is of; none for a lock. */
  readonly runIds: readonly string[];
  /** What else there is to know about it, in a few words. */
  readonly detail: string;
  /** Why it stays; not set if it is to go. */
  readonly keptBecause?: string;
  /** Naming the run would let it go all the same. */
  readonly goesIfNamed?: boolean;
  /** What is lost with it, since it was named. */
  readonly loses?: string;
  readonly remove: Effect.Effect<void, SandduneError>;
}

/** What is to be cleaned up after. */
export interface CleanScope {
  readonly repository: Repository;
  /** Every run of the repository. */
  readonly runs: readonly StoredRun[];
  /** Those whose leftovers are looked for. None of them is running. */
  readonly selected: readonly StoredRun[];
  /** Runs that were named: what holds work of theirs goes, too. */
  readonly namedRuns: ReadonlySet<string>;
  /** Branches that were named: they go with their worktrees, although they are what a run was for. */
  readonly namedBranches: ReadonlySet<string>;
  /** Runs in whose sandbox something may still be at work: their files are left alone. */
  readonly unsettled: Set<string>;
  /** Runs that are to be recovered, and were not, because nothing is to be done: what is left then is not known yet. */
  readonly unrecovered: Set<string>;
  /** Why commits of a run are still in its sandbox git directory, although it was recovered. */
  readonly keptWork: Map<string, string>;
  /** Worktrees that are gone, or would be. */
  readonly goneWorktrees: Set<string>;
}

/** A reason to keep something or, if it was named, what is lost with it. */
export const unlessNamed = (
  isNamed: boolean,
  reason: string | undefined,
): Pick<Leftover, "keptBecause" | "goesIfNamed" | "loses"> => {
  if (reason === undefined) return {};
  return isNamed ? { loses: reason } : { keptBecause: reason, goesIfNamed: true };
};
