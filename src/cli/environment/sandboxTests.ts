import type { EnvironmentClient } from "../../environment/client/client.ts";
import { givenSandboxFlag, type SandboxFlags, sandboxFor } from "../run/sandboxFlags.ts";
import { tell } from "../shared/output.ts";
import { UsageError } from "../shared/usageError.ts";

/** The flags of `sanddune environment run` for tests in a sandbox, on a commit. */
export interface SandboxTestFlags extends SandboxFlags {
  readonly worktree?: string;
  readonly commit?: string;
}

/** Tests that can be listed and run. Disposing closes the environment. */
export type OpenTests = Pick<EnvironmentClient, "schema" | "run"> & AsyncDisposable;

/** Whether the tests run in a sandbox. Refuses flags that apply only to a sandbox. */
export const isForSandbox = (flags: SandboxTestFlags): boolean => {
  if (flags.sandbox !== undefined || flags.commit !== undefined) return true;
  const lonely = givenSandboxFlag(flags);
  if (lonely === undefined) return false;
  throw new UsageError(`${lonely} needs --sandbox NAME`);
};

/** Prepares the tests of an environment in a new sandbox, for one commit of the worktree's repository. */
export const openSandboxTests = async (
  directory: string,
  flags: SandboxTestFlags,
  signal: AbortSignal,
): Promise<OpenTests> => {
  const [{ findCommit }, { openCommitEvaluator }] = await Promise.all([
    import("../../runs/findCommit.ts"),
    import("../../engine/environment/tests/evaluateCommits.ts"),
  ]);
  const { worktree: cwd = ".", commit: name = "HEAD" } = flags;
  const commit = await findCommit(cwd, name);
  if (commit === undefined) throw new UsageError(`--commit: there is no commit ${JSON.stringify(name)}`);
  const sandbox = await sandboxFor(flags, cwd);
  const onProgress = (sentence: string) => void tell(sentence);
  onProgress(
    `Testing the commit ${commit.slice(0, 7)} in a sandbox: ${sandbox.name}. Uncommitted changes are not tested.`,
  );
  const evaluator = await openCommitEvaluator({ environment: directory, sandbox, cwd, signal, onProgress });
  return {
    schema: async () => evaluator.schema,
    run: (path, { parameters, onProgress: onTest } = {}) =>
      evaluator.evaluate(commit, {
        path,
        ...(parameters && { parameters }),
        ...(onTest && { onProgress: onTest }),
      }),
    [Symbol.asyncDispose]: () => evaluator.close(),
  };
};
