import { statSync } from "node:fs";
import type { ReadyTests } from "../../environment/run/readyTests.ts";
import { tell } from "../shared/output.ts";
import { UsageError } from "../shared/usageError.ts";

interface OpenFlags {
  readonly worktree?: string;
  readonly timeout?: number;
  readonly concurrency?: number;
}

export const WORKTREE_FLAG = ["--worktree <dir>", "what is tested (default: the current directory)"] as const;

/** Makes the tests of an environment ready, and tells meanwhile what it does. Disposing ends everything of them. */
export const openEnv = async (
  directory: string,
  { worktree = ".", timeout, concurrency }: OpenFlags,
  signal: AbortSignal,
): Promise<ReadyTests & AsyncDisposable> => {
  if (!statSync(worktree, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--worktree: there is no directory ${worktree}`);
  }
  // Only now: a command line that asks for help, or for a completion, does not wait for what runs tests.
  const { openTests } = await import("../../environment/run/openTests.ts");
  const tests = await openTests({
    directory,
    worktree,
    signal,
    concurrency,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    onProgress: (sentence) => void tell(sentence),
  });
  return { ...tests, [Symbol.asyncDispose]: () => tests.close() };
};
