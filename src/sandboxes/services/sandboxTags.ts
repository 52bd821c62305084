import { hostname } from "node:os";

/** What every sandbox on another machine is marked with, so that whoever finds it knows whose it is. */
export interface SandboxTags {
  readonly run: string;
  /** The machine and the process that made it. */
  readonly owner: string;
  /** When nobody wants it any more, unless its deadline is put off. */
  readonly expires: string;
}

export const sandboxTags = (runId: string, lifetimeMs: number): SandboxTags => ({
  run: runId,
  owner: `${hostname()}:${process.pid}`,
  expires: new Date(Date.now() + lifetimeMs).toISOString(),
});
