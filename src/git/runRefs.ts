/** Refs of sanddune's own in the host repository. No sandbox ever sees them. */
export const RUN_REFS = "refs/sanddune/";

/** Keeps the commit that a run starts from, whatever happens to the branches meanwhile. */
export const baseRef = (runId: string): string => `${RUN_REFS}base/${runId}`;

/** The tip that a branch had before the agent rewrote its history. */
export const beforeRewriteRef = (runId: string): string => `${RUN_REFS}before/${runId}`;

/** Where uncommitted work travels, in a sandbox: as a commit on top of HEAD. */
export const UNCOMMITTED_REF = `${RUN_REFS}uncommitted`;

/** Where a ref of the sandbox lands on the host first. */
export const landingRef = (runId: string, name: string): string =>
  `${RUN_REFS}runs/${runId}/${name.replace(/^refs\//, "")}`;

/** Where uncommitted work lands on the host until the worktree's files hold it. */
export const uncommittedRef = (runId: string): string => landingRef(runId, UNCOMMITTED_REF);
