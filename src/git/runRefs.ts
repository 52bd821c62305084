import { createHash, randomBytes } from "node:crypto";

/** Sanddune's refs in the host repository. No sandbox sees them. */
export const RUN_REFS = "refs/sanddune/";

/** Keeps the commit that a run starts from if its branch is moved or deleted meanwhile. */
export const baseRef = (runId: string): string => `${RUN_REFS}base/${runId}`;

/** The tip that a branch had before the agent rewrote its history. */
export const beforeRewriteRef = (runId: string): string => `${RUN_REFS}before/${runId}`;

/** Prefix of the refs for commits that could not be put on a branch. */
export const keptRefs = (runId: string): string => `${RUN_REFS}runs/${runId}/`;

/** The tip of the source branch, when the branch could not be moved to it. */
export const tipRef = (runId: string): string => `${keptRefs(runId)}tip`;

/** Uncommitted work of an isolated sandbox, until the worktree's files hold it. */
export const uncommittedRef = (runId: string): string => `${keptRefs(runId)}uncommitted`;

/**
 * The ref that keeps an agent's ref other than the source branch. The agent's names may be too long, or may conflict as
 * a file and a directory do, so the ref has a readable part and a hash.
 */
export const keptRefFor = (runId: string, name: string): string => {
  // The prefix of an export differs each time; the kept ref must not.
  const lasting = name.replace(/^refs\/sanddune\/export-[0-9a-f]{16}\//, "refs/sanddune/");
  const readable = lasting
    .replace(/^refs\/(heads\/|sanddune\/)?/, "")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .slice(0, 40);
  const hash = createHash("sha256").update(lasting).digest("hex").slice(0, 10);
  return `${keptRefs(runId)}${readable.replace(/^-|-$/g, "")}-${hash}`;
};

/** Prefix of a run's checkpoints. Their number is that of the last action before them. */
export const checkpointRefs = (runId: string): string => `${RUN_REFS}${runId}/checkpoints/`;

export const checkpointRef = (runId: string, number: number): string => `${checkpointRefs(runId)}${number}`;

/** The run that a ref belongs to. Checkpoints do not count: they are part of the run's record. */
export const runOfRef = (ref: string): string | undefined =>
  /^refs\/sanddune\/(?:base|before|runs)\/([^/]+)/.exec(ref)?.[1];

/** Prefix of an export's refs for unreferenced commits. Random, so that no ref of the agent has it. */
export const newExportRefs = (): string => `${RUN_REFS}export-${randomBytes(8).toString("hex")}/`;

export const OWN_EXPORT_REFS = /^refs\/sanddune\/export-[0-9a-f]{16}\/$/;

/** In a sandbox: the last checkpoint. Its ancestors are the earlier ones. */
export const SANDBOX_CHECKPOINT_REF = `${RUN_REFS}checkpoint`;
