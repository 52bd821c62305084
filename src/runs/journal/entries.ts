import type { EndState, SessionKind } from "../../display/contract.ts";
import type { NestedEntry } from "../../git/nestedRepositories/journalEntries.ts";
import type { IterationUsage } from "../../options/results.ts";
import type { ProcessIdentity } from "../../process/kill/processIdentity.ts";

/** What a run writes about itself. Anything that would outlive a crash is written before it is created. */
export type JournalEntry =
  | {
      readonly type: "begun";
      readonly runId: string;
      readonly kind: SessionKind;
      /** The run id of the parent session, whose worktree or sandbox this one uses. */
      readonly within: string | undefined;
      readonly name: string | undefined;
      readonly owner: ProcessIdentity;
      readonly agent: string | undefined;
      readonly sandbox: string | undefined;
      readonly strategy: string;
      readonly sourceBranch: string | undefined;
      readonly targetBranch: string | undefined;
      readonly logFilePath: string;
      /** The parent of sandboxes that are directories. */
      readonly temporaryDirectory: string;
    }
  | {
      readonly type: "creating";
      readonly what: "worktree" | "branch" | "sandbox" | "snapshot" | "ref" | "host processes";
      readonly name: string;
      /** Of a worktree: created for this run, not taken over from another one. */
      readonly isNew?: boolean;
      /** Of a worktree: its files are a copy of another one's, until it counts as created. */
      readonly isCopy?: boolean;
    }
  /** Git has finished the worktree: from now on it may contain work. */
  | { readonly type: "created"; readonly what: "worktree"; readonly name: string }
  /** An agent is about to start in a sandbox. */
  | {
      readonly type: "working";
      /** The checkout, relative to the main one. */
      readonly checkout: string;
      /** `undefined` when HEAD is detached. */
      readonly branch: string | undefined;
      /** The commit that the sandbox starts from. */
      readonly tip: string;
      /** The sandbox has its own copy of the files. */
      readonly isIsolated: boolean;
      /** The user's repositories nested in the checkout: relative path and identity of each. */
      readonly nestedRepositories: readonly NestedEntry[];
    }
  /** The location of a sandbox that is about to be created, if its provider has several. */
  | { readonly type: "placed"; readonly what: "sandbox"; readonly name: string; readonly place: string }
  | {
      readonly type: "removed";
      readonly what: "worktree" | "branch" | "sandbox" | "snapshot" | "ref" | "host processes" | "files";
      readonly name: string;
    }
  | {
      readonly type: "kept";
      readonly what: "worktree" | "archive" | "git directory";
      readonly name: string;
      readonly reason: string;
    }
  | { readonly type: "phase"; readonly phase: string; readonly durationMs: number }
  | {
      readonly type: "iteration";
      readonly iteration: number;
      readonly usage?: IterationUsage;
      readonly commits: readonly string[];
    }
  /** All tokens of the run so far, during an iteration. */
  | { readonly type: "usage"; readonly usage: IterationUsage }
  | {
      readonly type: "tests";
      readonly iteration: number;
      readonly passed: number;
      readonly failed: number;
      readonly total: number;
      readonly error: string | null;
    }
  | {
      readonly type: "ended";
      readonly state: EndState;
      /** Whether all tests pass, if the run was to continue until they do. */
      readonly solved?: boolean;
      readonly problem?: string;
    }
  /** The run was dead. Its sandbox was ended and its commits were imported, or kept for the given reason. */
  | { readonly type: "recovered"; readonly reason?: string }
  /** `sanddune clean` removed what the run had left, except for what it has to keep. */
  | { readonly type: "cleaned" };
