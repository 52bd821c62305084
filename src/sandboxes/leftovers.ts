import type { IsolatedSandboxHandle } from "./contract.ts";

/** A sandbox whose process died before it could be closed, as its run's journal names it. */
export interface LeftSandbox {
  readonly sandboxName: string;
  readonly runId: string;
  /** What its provider said about where it is, before it was made. Not to be trusted: journals are files. */
  readonly place?: string;
  /** Where the run had its temporary files. */
  readonly temporaryDirectory: string;
}

/** How sandboxes of one provider are found and removed without the handle that made them. */
export interface SandboxLeftovers {
  /** The agent's files are in the sandbox and nowhere else. Where it depends, what was found is asked. */
  readonly holdsWork: boolean | ((sandbox: LeftSandbox) => Promise<boolean>);
  /** What is left of the sandbox, in words; `undefined` if nothing is. Rejects if that cannot be found out. */
  find(sandbox: LeftSandbox, signal?: AbortSignal): Promise<string | undefined>;
  /**
   * Opens a sandbox again that holds work, with nothing at work in it any more. Closing the handle leaves the sandbox where it
   * is. Left out where that is not possible; rejects if the sandbox cannot be reached.
   */
  reopen?(sandbox: LeftSandbox): Promise<IsolatedSandboxHandle>;
  /** Removes what `find` finds. */
  remove(sandbox: LeftSandbox): Promise<void>;
  /**
   * Sandboxes of runs in any of these checkouts that no journal lists, and that no living process has made. Left out
   * where sandboxes end by themselves, or do not say which repository they are for.
   */
  findUnlisted?(
    checkouts: ReadonlySet<string>,
    isListed: (runId: string) => boolean,
  ): Promise<readonly UnlistedSandbox[]>;
}

/** A sandbox of a run whose journal is gone. */
export interface UnlistedSandbox {
  readonly runId: string;
  /** In words. */
  readonly description: string;
  /** Why it is not sure that nothing works in it. */
  readonly doubt?: string;
  remove(): Promise<void>;
}
