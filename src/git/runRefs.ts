import { createHash, randomBytes } from "node:crypto";

/** Refs of sanddune's own in the host repository. No sandbox ever sees them. */
export const RUN_REFS = "refs/sanddune/";

/** Keeps the commit that a run starts from, whatever happens to the branches meanwhile. */
export const baseRef = (runId: string): string => `${RUN_REFS}base/${runId}`;

/** The tip that a branch had before the agent rewrote its history. */
export const beforeRewriteRef = (runId: string): string => `${RUN_REFS}before/${runId}`;

/** What could not go on a branch. */
export const keptRefs = (runId: string): string => `${RUN_REFS}runs/${runId}/`;

/** The tip of the source branch, when the branch could not be moved to it. */
export const tipRef = (runId: string): string => `${keptRefs(runId)}tip`;

/** Uncommitted work of an isolated sandbox, until the worktree's files hold it. */
export const uncommittedRef = (runId: string): string => `${keptRefs(runId)}uncommitted`;

/**
 * Commits that the agent left anywhere but on the source branch. The names are the agent's: they can be too long, or
 * exclude each other, so that only a part of them is used, with a hash.
 */
export const keptRefFor = (runId: string, name: string): string => {
  // Two exports of the same commit give it the same name.
  const lasting = name.replace(/^refs\/sanddune\/export-[0-9a-f]{16}\//, "refs/sanddune/");
  const readable = lasting
    .replace(/^refs\/(heads\/|sanddune\/)?/, "")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .slice(0, 40);
  const hash = createHash("sha256").update(lasting).digest("hex").slice(0, 10);
  return `${keptRefs(runId)}${readable.replace(/^-|-$/g, "")}-${hash}`;
};

/** Checkpoints of a run, numbered by the last action that each of them holds. */
export const checkpointRefs = (runId: string): string => `${RUN_REFS}${runId}/checkpoints/`;

export const checkpointRef = (runId: string, number: number): string => `${checkpointRefs(runId)}${number}`;

/** The run that a ref is of, if it is one of a run's. Checkpoints are part of the run's record: they are not meant. */
export const runOfRef = (ref: string): string | undefined =>
  /^refs\/sanddune\/(?:base|before|runs)\/([^/]+)/.exec(ref)?.[1];

/**
 * In a sandbox: refs that one export makes for commits without a ref of their own. No two exports share the prefix, so
 * that what the agent has named is never taken for one of them.
 */
export const newExportRefs = (): string => `${RUN_REFS}export-${randomBytes(8).toString("hex")}/`;

export const OWN_EXPORT_REFS = /^refs\/sanddune\/export-[0-9a-f]{16}\/$/;

/** In a sandbox: the last checkpoint, with all earlier ones behind it. */
export const SANDBOX_CHECKPOINT_REF = `${RUN_REFS}checkpoint`;
