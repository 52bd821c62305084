import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { EndState, SessionKind } from "../display/contract.ts";
import type { ProcessIdentity } from "../process/processIdentity.ts";
import type { IterationUsage } from "../results.ts";

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
      readonly logFilePath: string | undefined;
      /** Where sandboxes that are directories are made. */
      readonly temporaryDirectory: string;
    }
  | {
      readonly type: "creating";
      readonly what: "worktree" | "branch" | "sandbox" | "ref" | "host processes";
      readonly name: string;
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

  /** Must succeed: what is not in the journal must not be created. */
  write(entry: JournalEntry): void {
    const line = JSON.stringify({ at: new Date().toISOString(), ...entry }, (key, value: unknown) =>
      SENTENCES.has(key) && typeof value === "string" ? this.redact(value) : value,
    );
    appendFileSync(this.path, `${line}\n`);
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
