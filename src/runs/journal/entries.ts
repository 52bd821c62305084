import type { EndState, SessionKind } from "../../display/contract.ts";
import type { NestedEntry } from "../../git/nestedRepositories/journalEntries.ts";
import type { IterationUsage } from "../../options/results.ts";
import type { ProcessIdentity } from "../../process/kill/processIdentity.ts";

/** What a run writes down about itself. Things that outlive a crash are written before they are created. */
export type JournalEntry =
  | {
      readonly type: "begun";
      readonly runId: string;
      readonly kind: SessionKind;
      /** The session whose worktree or sandbox this one works in. */
      readonly within: string | undefined;
      readonly name: string | undefined;
      readonly owner: ProcessIdentity;
      readonly agent: string | undefined;
      readonly sandbox: string | undefined;
      readonly strategy: string;
      readonly sourceBranch: string | undefined;
      readonly targetBranch: string | undefined;
      readonly logFilePath: string;
      /** Where sandboxes that are directories are made. */
      readonly temporaryDirectory: string;
    }
  | {
      readonly type: "creating";
      readonly what: "worktree" | "branch" | "sandbox" | "ref" | "host processes";
      readonly name: string;
      /** Of a worktree: it is made for this run, and not taken over from another. */
      readonly isNew?: boolean;
    }
  /** Git has made the whole worktree: from now on there may be work in it. */
  | { readonly type: "created"; readonly what: "worktree"; readonly name: string }
  /** An agent is about to work in a checkout, in a sandbox. */
  | {
      readonly type: "working";
      /** The checkout, relative to the main one. */
      readonly checkout: string;
      /** `undefined` when HEAD is detached. */
      readonly branch: string | undefined;
      /** The commit that the sandbox starts from. */
      readonly tip: string;
      /** The sandbox has files of its own. */
      readonly isIsolated: boolean;
      /** The repositories in the checkout that are not an agent's: their paths in it, and what identifies them. */
      readonly nestedRepositories: readonly NestedEntry[];
    }
  /** Where a sandbox is about to be created, if its provider has several places. */
  | { readonly type: "placed"; readonly what: "sandbox"; readonly name: string; readonly place: string }
  | {
      readonly type: "removed";
      readonly what: "worktree" | "branch" | "sandbox" | "ref" | "host processes" | "files";
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
  /** All tokens of the run so far, while an iteration lasts. */
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
      /** Whether all tests pass, if the run was to go on until they do. */
      readonly solved?: boolean;
      readonly problem?: string;
    }
  /** The run was dead. Its sandbox was ended, and its commits were imported, or kept for the reason given. */
  | { readonly type: "recovered"; readonly reason?: string }
  /** What a run had left behind was removed by `sanddune clean`, as far as it may be. */
  | { readonly type: "cleaned" };
