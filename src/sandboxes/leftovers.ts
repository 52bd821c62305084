import type { IsolatedSandboxHandle } from "./contract.ts";

/** A sandbox whose process died before it could be closed, as its run's journal names it. */
export interface LeftSandbox {
  readonly sandboxName: string;
  readonly runId: string;
  /** The place that its provider reported before it was made. Untrusted: journals are files. */
  readonly place?: string;
  /** The run's directory for temporary files. */
  readonly temporaryDirectory: string;
}

/** A snapshot whose process died before it could be removed, as its run's journal names it. */
export interface LeftSnapshot {
  readonly name: string;
  readonly runId: string;
  /** As in `LeftSandbox`, of the sandbox that it is of. */
  readonly place?: string;
}

/** How sandboxes of one provider are found and removed without the handle that made them. */
export interface SandboxLeftovers {
  /** The sandbox holds the only copy of the agent's files. A function decides where that depends on the sandbox. */
  readonly holdsWork: boolean | ((sandbox: LeftSandbox) => Promise<boolean>);
  /** Describes what is left of the sandbox; `undefined` if nothing is. Rejects if that is unknown. */
  find(sandbox: LeftSandbox, signal?: AbortSignal): Promise<string | undefined>;
  /**
   * Reopens a sandbox that holds work, after killing the commands in it. Closing the handle keeps the sandbox. Left out where
   * that is not possible; rejects if the sandbox cannot be reached.
   */
  reopen?(sandbox: LeftSandbox): Promise<IsolatedSandboxHandle>;
  /** Removes what `find` finds. */
  remove(sandbox: LeftSandbox): Promise<void>;
  /**
   * Describes what is left of a snapshot outside of its directory; `undefined` if nothing is. Rejects if that is unknown. Left out
   * where snapshots are only in their directories, or end by themselves.
   */
  findSnapshot?(snapshot: LeftSnapshot, signal?: AbortSignal): Promise<string | undefined>;
  /**
   * Resolves with the reason why what `findSnapshot` finds cannot be removed yet, for example because a fork still needs it;
   * `undefined` if it can. Left out where snapshots can always be removed.
   */
  whySnapshotStays?(snapshot: LeftSnapshot, signal?: AbortSignal): Promise<string | undefined>;
  /** Removes what `findSnapshot` finds. */
  removeSnapshot?(snapshot: LeftSnapshot): Promise<void>;
  /**
   * Finds sandboxes of runs in these checkouts that no journal lists and whose process is dead. Left out where sandboxes end
   * by themselves, or do not name their repository.
   */
  findUnlisted?(
    checkouts: ReadonlySet<string>,
    isListed: (runId: string) => boolean,
  ): Promise<readonly UnlistedSandbox[]>;
}

/** A sandbox of a run whose journal is gone. */
export interface UnlistedSandbox {
  readonly runId: string;
  /** For the user. */
  readonly description: string;
  /** Why it may still be in use. */
  readonly doubt?: string;
  remove(): Promise<void>;
}
