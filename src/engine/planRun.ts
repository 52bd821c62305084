import { resolve } from "node:path";
import * as Effect from "effect/Effect";
import { checkConfigDirectory } from "../configDirectory.ts";
import { printNotice } from "../display/notice.ts";
import { tellIfSlow } from "../display/slowStep.ts";
import { InvalidOptionsError, SandboxUnavailableError, SandduneError } from "../errors.ts";
import { resolveBranchStrategy } from "../git/branchStrategy.ts";
import { checkCopyItems } from "../git/copyToWorktree.ts";
import { checkNothingUnfinished, readHostState } from "../git/hostState.ts";
import { openRepository } from "../git/repository.ts";
import { inspectSourceBranch } from "../git/worktrees.ts";
import { interruptible } from "../process/interruptible.ts";
import { readPrompt } from "../prompt/readPrompt.ts";
import type { RunOptions } from "../runOptions.ts";
import type { PreflightOptions, SandboxProvider } from "../sandboxes/contract.ts";
import { DEFAULT_COMPLETION_SIGNAL } from "./completionSignal.ts";
import { planEnv, readEnv } from "./planEnv.ts";
import { planPrompt } from "./planPrompt.ts";
import { createRunId } from "./runId.ts";
import type { HookPlan, RunPlan } from "./runPlan.ts";
import { validateRunOptions } from "./validateRunOptions.ts";

const DEFAULTS = {
  maxIterations: 1,
  idleTimeoutSeconds: 600,
  completionTimeoutSeconds: 30,
  copyToWorktreeMs: 60_000,
  promptExpansionMs: 30_000,
  logging: { type: "file" },
} as const;

const planHooks = ({ host, sandbox }: NonNullable<RunOptions["hooks"]>): HookPlan => ({
  "host.onWorktreeReady": host?.onWorktreeReady ?? [],
  "host.onSandboxReady": host?.onSandboxReady ?? [],
  "sandbox.onSandboxReady": sandbox?.onSandboxReady ?? [],
});

/** There is no display yet: whoever has to wait for a daemon, or for a password, is told on stderr. */
const tellingIfSlow = <A, E>(
  { name }: RunOptions,
  label: string,
  step: Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const tell = (sentence: string) => printNotice(name, sentence);
    const end = tellIfSlow(label, tell, tell);
    return Effect.onExit(step, () => Effect.sync(end));
  });

/** Runs a check that throws. */
const checked = <A>(check: () => A): Effect.Effect<A, SandduneError> =>
  Effect.try({ try: check, catch: (error) => error as SandduneError });

const preflight = (
  sandbox: SandboxProvider,
  options: Omit<PreflightOptions, "signal">,
): Effect.Effect<void, SandduneError> =>
  interruptible(
    async (signal) => sandbox.preflight?.({ ...options, signal }),
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
  const startedAt = performance.now();
  yield* checked(() => validateRunOptions(options));
  const { agent, sandbox } = options;
  const cwd = resolve(options.cwd ?? ".");
  const runId = createRunId();
  const hooks = planHooks(options.hooks ?? {});
  const repository = yield* openRepository(cwd);
  yield* checked(() => checkConfigDirectory(repository.configDirectory));
  const unresolvedPrompt = yield* interruptible(
    (signal) => readPrompt(options, repository, signal),
    (reason) => reason as SandduneError,
  );
  const usesSudo = hooks["sandbox.onSandboxReady"].some(({ sudo }) => sudo === true);
  const [host, envPlan, sandboxCheck] = yield* Effect.all(
    [
      readHostState(repository),
      planEnv(options, repository),
      Effect.exit(
        tellingIfSlow(
          options,
          `Checking the ${sandbox.name} sandbox`,
          preflight(sandbox, { repositoryPath: repository.topLevel, usesSudo }),
        ),
      ),
    ],
    { concurrency: "unbounded" },
  );
  const branches = yield* checked(() =>
    resolveBranchStrategy(options.branchStrategy, sandbox.type, host.head, runId),
  );
  const { prompt, warnings } = yield* checked(() =>
    planPrompt(unresolvedPrompt, options.promptArgs ?? {}, branches, host.head.sha),
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
  // What the caller got wrong is told first, whether or not the sandbox is there; passwords are asked for last.
  yield* sandboxCheck;
  const names = [...envPlan.sources.keys()].join(", ");
  const env = yield* tellingIfSlow(options, `Asking for the values of ${names}`, readEnv(envPlan.sources));
  return {
    runId,
    startedAt,
    name: options.name,
    repository,
    host,
    branches,
    source,
    agent,
    sandbox,
    prompt,
    promptExpansionMs: options.timeouts?.promptExpansionMs ?? DEFAULTS.promptExpansionMs,
    env,
    hooks,
    usesSudo,
    logging: options.logging ?? DEFAULTS.logging,
    output: options.output,
    maxIterations: options.maxIterations ?? DEFAULTS.maxIterations,
    completionSignals: [options.completionSignal ?? DEFAULT_COMPLETION_SIGNAL].flat(),
    idleTimeoutMs: (options.idleTimeoutSeconds ?? DEFAULTS.idleTimeoutSeconds) * 1000,
    completionTimeoutMs: (options.completionTimeoutSeconds ?? DEFAULTS.completionTimeoutSeconds) * 1000,
    copyToWorktree: copyItems,
    copyToWorktreeMs: options.timeouts?.copyToWorktreeMs ?? DEFAULTS.copyToWorktreeMs,
    warnings: [...warnings, ...envPlan.warnings],
    signal: options.signal,
  };
});
