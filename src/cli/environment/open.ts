import type { ReadyTests } from "../../environment/run/readyTests.ts";
import { isDirectory } from "../../tools/files/entries.ts";
import { tell } from "../shared/output.ts";
import { UsageError } from "../shared/usageError.ts";

interface OpenFlags {
  readonly worktree?: string;
  readonly timeout?: number;
  readonly concurrency?: number;
}

export const WORKTREE_FLAG = [
  "--worktree <dir>",
  "the directory to test (default: the current directory)",
] as const;

/** Prepares the tests of an environment, and reports its progress. Disposing closes the environment. */
export const openEnv = async (
  directory: string,
  { worktree = ".", timeout, concurrency }: OpenFlags,
  signal: AbortSignal,
): Promise<ReadyTests & AsyncDisposable> => {
  if (!isDirectory(worktree)) {
    throw new UsageError(`--worktree: there is no directory ${worktree}`);
  }
  // Imported here, so that the help and completions do not wait for it.
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
