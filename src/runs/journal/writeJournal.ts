import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
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

/** The file whose appearance ends a session: `sanddune stop` makes it. */
export const stopRequestPath = (runDirectory: string): string => join(runDirectory, "stop");

/** The journal's own file, in the directory of a run. */
export const journalPath = (runDirectory: string): string => join(runDirectory, "journal.jsonl");

/** What the run needs on the host while it lasts, or what it could not bring home. */
export const runFilesDirectory = (runDirectory: string): string => join(runDirectory, "files");

/** The fields that may quote what a program has printed. All others are needed as they are, to find things again. */
const SENTENCES: ReadonlySet<string> = new Set(["reason", "problem", "error"]);

/**
 * The record of one run in `.sanddune/runs/<id>/journal.jsonl`, one entry a line, each written at once. After a crash
 * it tells what the run had made; a torn last line is to be expected.
 */
export class Journal {
  readonly path: string;
  readonly filesDirectory: string;
  #isBroken = false;

  constructor(
    readonly runDirectory: string,
    /** Takes the secrets out of a sentence. */
    private readonly redact: (sentence: string) => string,
  ) {
    this.filesDirectory = runFilesDirectory(runDirectory);
    mkdirSync(runDirectory, { mode: 0o700 });
    mkdirSync(this.filesDirectory);
    this.path = journalPath(runDirectory);
  }

  /** Must succeed: what is not in the journal must not be created. A durable entry survives a power cut. */
  write(entry: JournalEntry, { isDurable = false } = {}): void {
    const line = JSON.stringify({ at: new Date().toISOString(), ...entry }, (key, value: unknown) =>
      SENTENCES.has(key) && typeof value === "string" ? this.redact(value) : value,
    );
    appendFileSync(this.path, `${line}\n`, { flush: isDurable });
  }

  /** For entries that only tell: a full disk must not keep a run from tidying up. */
  tell(entry: JournalEntry): void {
    if (this.#isBroken) return;
    try {
      this.write(entry);
    } catch {
      this.#isBroken = true;
    }
  }
}
