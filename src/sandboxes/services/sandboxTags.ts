import { hostname } from "node:os";

/** Marks every sandbox on another machine, so that its owner can be found. */
export interface SandboxTags {
  readonly run: string;
  /** The machine and the process that made it. */
  readonly owner: string;
  /** When it is no longer needed, unless its lifetime is extended. */
  readonly expires: string;
}

export const sandboxTags = (runId: string, lifetimeMs: number): SandboxTags => ({
  run: runId,
  owner: `${hostname()}:${process.pid}`,
  expires: new Date(Date.now() + lifetimeMs).toISOString(),
});
