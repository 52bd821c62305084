import { SandboxError } from "../../errors.ts";
import { parseObject } from "../../tools/json/parseJson.ts";
import type { SandboxSnapshot } from "../contract.ts";

/** What has to be known about a snapshot at a service. */
export interface SnapshotState {
  /** The service's id for it. */
  readonly id: string;
  /** The name of the worktree's directory. */
  readonly directory: string;
}

export const writeState = (state: SnapshotState): string => JSON.stringify(state);

export const readState = (provider: string, { name, state }: SandboxSnapshot): SnapshotState => {
  const { id, directory } = (parseObject(state) ?? {}) as Partial<SnapshotState>;
  if (typeof id === "string" && typeof directory === "string" && /^[\w-]+$/.test(directory))
    return { id, directory };
  throw new SandboxError(provider, `the snapshot ${name} was not made by it`);
};
