import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BindMountSandboxHandle, IsolatedSandboxHandle, SandboxSnapshot } from "../contract.ts";

/** A handle of either kind of sandbox provider. */
export type AnySandboxHandle = BindMountSandboxHandle | IsolatedSandboxHandle;

/** Differences between providers that the contract allows. */
export interface ConformanceTraits {
  /**
   * Whether the sandbox's processes are alone in their pid namespace, so that a process which has cleared its
   * environment must be killed with the rest. `true` when it is left out.
   */
  readonly ownsProcessNamespace?: boolean;
  /** The provider's own, for the cases of snapshots. */
  readonly removeSnapshot?: (snapshot: SandboxSnapshot) => Promise<void>;
}

/** One promise of the contract. `run` rejects with an `AssertionError` when it is broken. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/** A case as it is written. It finds the worktree empty, and need not tidy up. */
export interface CaseDefinition {
  readonly name: string;
  /** The case closes its sandbox, or leaves a process running there: no other case can use that sandbox. */
  readonly needsOwnSandbox?: boolean;
  /** The case leaves the worktree as it was: it is not emptied before the next case. */
  readonly makesNoFiles?: boolean;
  appliesTo?(traits: ConformanceTraits): boolean;
  check(sandbox: AnySandboxHandle): Promise<void>;
}

/** No command of the suite takes this long, unless the sandbox hangs. */
export const HANG_MS = 60_000;

export const copyToSandbox = (
  sandbox: AnySandboxHandle,
  hostPath: string,
  sandboxPath: string,
): Promise<void> =>
  "copyFileIn" in sandbox ? sandbox.copyFileIn(hostPath, sandboxPath) : sandbox.copyIn(hostPath, sandboxPath);

export const withHostDirectory = async (use: (directory: string) => Promise<void>): Promise<void> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "sanddune-conformance-")));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

/** A moment that something else waits for. */
export const moment = (): { readonly reached: Promise<void>; readonly reach: () => void } => {
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { reached, reach };
};

/** Standard input that comes only after `reached`: proof that what led to it did not wait for the command's end. */
export async function* inputAfter(reached: Promise<void>, text: string): AsyncGenerator<Uint8Array> {
  await reached;
  yield Buffer.from(text);
}
