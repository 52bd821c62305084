import { resolve } from "node:path";
import * as Effect from "effect/Effect";
import { InvalidOptionsError, SandboxUnavailableError, SandduneError } from "../errors.ts";
import { resolveBranchStrategy } from "../git/branchStrategy.ts";
import { checkCopyItems } from "../git/copyToWorktree.ts";
import { checkNothingUnfinished, readHostState } from "../git/hostState.ts";
import { openRepository } from "../git/repository.ts";
import { inspectSourceBranch } from "../git/worktrees.ts";
import { interruptible } from "../process/interruptible.ts";
import { resolvePrompt } from "../prompt/resolvePrompt.ts";
import type { RunOptions } from "../runOptions.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import { DEFAULT_COMPLETION_SIGNAL } from "./completionSignal.ts";
import { createRunId } from "./runId.ts";
import type { RunPlan } from "./runPlan.ts";
import { validateRunOptions } from "./validateRunOptions.ts";

const DEFAULTS = {
  maxIterations: 1,
  idleTimeoutSeconds: 600,
  completionTimeoutSeconds: 30,
  copyToWorktreeMs: 60_000,
} as const;

/** Runs a check that throws. */
const checked = <A>(check: () => A): Effect.Effect<A, SandduneError> =>
  Effect.try({ try: check, catch: (error) => error as SandduneError });

const preflight = (sandbox: SandboxProvider, repositoryPath: string): Effect.Effect<void, SandduneError> =>
  interruptible(
    async (signal) => sandbox.preflight?.({ repositoryPath, signal }),
    (reason) =>
      reason instanceof SandduneError
        ? reason
        : new SandboxUnavailableError(
            sandbox.name,
            String(reason),
            "See the sandbox provider's documentation.",
          ),
  );

/** Decides everything about a run, and checks that it can be done, before anything is created. */
export const planRun = Effect.fnUntraced(function* (
  options: RunOptions,
): Effect.fn.Return<RunPlan, SandduneError> {
  yield* checked(() => validateRunOptions(options));
  const { agent, sandbox } = options;
  const cwd = resolve(options.cwd ?? ".");
  const runId = createRunId();
  const prompt = yield* interruptible(
    () => resolvePrompt(options),
    (reason) => reason as SandduneError,
  );
  const repository = yield* openRepository(cwd);
  const [host, sandboxCheck] = yield* Effect.all(
    [readHostState(repository), Effect.exit(preflight(sandbox, repository.topLevel))],
    { concurrency: "unbounded" },
  );
  const branches = yield* checked(() =>
    resolveBranchStrategy(options.branchStrategy, sandbox.type, host.head, runId),
  );
  if (branches.strategy === "head") yield* checked(() => checkNothingUnfinished(repository));
  const source =
    branches.strategy === "head"
      ? undefined
      : yield* inspectSourceBranch(repository, host, branches.sourceBranch, branches.from);
  const copyItems = options.copyToWorktree ?? [];
  yield* checked(() => {
    if (branches.strategy === "head" && copyItems.length > 0) {
      throw new InvalidOptionsError(
        "copyToWorktree",
        "with the `head` strategy there is no worktree to copy into: the agent works in your checkout, where the files are. Use `merge-to-head` or `branch`.",
      );
    }
    checkCopyItems(repository, copyItems);
  });
  // Last, because what the caller got wrong is told first, whether or not the sandbox is there.
  yield* sandboxCheck;
  return {
    runId,
    repository,
    host,
    branches,
    source,
    agent,
    sandbox,
    prompt,
    maxIterations: options.maxIterations ?? DEFAULTS.maxIterations,
    completionSignals: [options.completionSignal ?? DEFAULT_COMPLETION_SIGNAL].flat(),
    idleTimeoutMs: (options.idleTimeoutSeconds ?? DEFAULTS.idleTimeoutSeconds) * 1000,
    completionTimeoutMs: (options.completionTimeoutSeconds ?? DEFAULTS.completionTimeoutSeconds) * 1000,
    copyToWorktree: copyItems,
    signal: options.signal,
    copyToWorktreeMs: options.timeouts?.copyToWorktreeMs ?? DEFAULTS.copyToWorktreeMs,
  };
});
