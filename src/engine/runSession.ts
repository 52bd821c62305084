import { join } from "node:path";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import type * as Exit from "effect/Exit";
import type * as Scope from "effect/Scope";
import { ensureConfigDirectoryPart } from "../configDirectory.ts";
import { RunLog } from "../display/runLog.ts";
import { SandduneError } from "../errors.ts";
import { copyToWorktree } from "../git/copyToWorktree.ts";
import { exportingHandle } from "../git/exportFromSandbox.ts";
import { mergeToHead } from "../git/mergeToHead.ts";
import { findNestedRepositories } from "../git/nestedRepositories.ts";
import { updateRefs } from "../git/refs.ts";
import { baseRef } from "../git/runRefs.ts";
import { ownIdentity } from "../process/processIdentity.ts";
import { removeDirectory } from "../process/removeDirectory.ts";
import type { RunResult } from "../results.ts";
import type { AgentInvoker } from "./agentInvoker.ts";
import { type CheckoutSession, openCheckoutSession } from "./checkoutSession.ts";
import { withHostFileErrors } from "./hostFileErrors.ts";
import { importWork, type WorkImport } from "./importWork.ts";
import { runIterations } from "./iterationLoop.ts";
import { Journal } from "./journal.ts";
import { timed } from "./phases.ts";
import type { RunContext } from "./runContext.ts";
import type { RunPlan } from "./runPlan.ts";
import { RunProgress } from "./runProgress.ts";
import { openSandboxSession } from "./sandboxSession.ts";
import { tidying } from "./tidying.ts";

/** Begins the run's journal and log. From here on the run can be found, whatever happens to this process. */
const openContext = (plan: RunPlan): RunContext => {
  const { configDirectory } = plan.repository;
  // All of them, before any sandbox could see that one is missing.
  ensureConfigDirectoryPart(configDirectory, "worktrees");
  const logFilePath = join(ensureConfigDirectoryPart(configDirectory, "logs"), `${plan.runId}.log`);
  const journal = new Journal(join(ensureConfigDirectoryPart(configDirectory, "runs"), plan.runId));
  journal.write({
    type: "begun",
    runId: plan.runId,
    owner: ownIdentity(),
    agent: plan.agent.name,
    sandbox: plan.sandbox.name,
    strategy: plan.branches.strategy,
    sourceBranch: plan.branches.sourceBranch,
    targetBranch: plan.branches.targetBranch,
    logFilePath,
  });
  const log = new RunLog(logFilePath);
  return {
    plan,
    journal,
    log,
    progress: new RunProgress(plan.runId, plan.branches.sourceBranch ?? "HEAD", logFilePath, (sentence) =>
      log.note(`Warning: ${sentence}`),
    ),
    tip: plan.host.head.sha,
    indexAt: plan.host.head.sha,
    newSubmodules: [],
    nestedRepositories: new Map(),
    agentHasStarted: false,
    isMerged: false,
    keepWorktreeReason: undefined,
    redundantRefs: new Set([baseRef(plan.runId)]),
    keepsRunFiles: false,
  };
};

const stateOf = (exit: Exit.Exit<unknown, unknown>): "succeeded" | "failed" | "aborted" => {
  if (exit._tag === "Success") return "succeeded";
  return Cause.hasInterrupts(exit.cause) ? "aborted" : "failed";
};

/** Whatever the agent has put there, it must not keep a run from ending as it has ended. */
const removeRunFiles = ({ journal, progress }: RunContext): Effect.Effect<void> =>
  Effect.promise(() =>
    removeDirectory(journal.filesDirectory).catch((error: unknown) => {
      progress.warn(`${journal.filesDirectory} could not be removed: ${String(error)}`);
    }),
  );

/** The last step of every run: what held nothing but copies goes, what is the only copy stays. */
const closeContext = Effect.fnUntraced(function* (
  context: RunContext,
  exit: Exit.Exit<unknown, unknown>,
): Effect.fn.Return<void> {
  const { plan, journal, log } = context;
  yield* Effect.ignore(
    updateRefs(
      plan.repository.topLevel,
      [...context.redundantRefs].map((ref) => ({ ref, to: undefined })),
    ),
  );
  if (!context.keepsRunFiles) yield* removeRunFiles(context);
  const state = stateOf(exit);
  const problem =
    exit._tag === "Failure" && state === "failed" ? String(Cause.squash(exit.cause)) : undefined;
  journal.tell({ type: "ended", state, ...(problem !== undefined && { problem }) });
  if (log.failure !== undefined) context.progress.warn(`The run log is not complete: ${log.failure}`);
  log.note(problem === undefined ? `The run ${state}.` : `The run failed. ${problem}`);
  log.close();
});

const iterate = Effect.fnUntraced(function* (
  context: RunContext,
  work: WorkImport,
): Effect.fn.Return<void, SandduneError, AgentInvoker> {
  const { plan, progress, journal, log } = context;
  const { handle } = work.session.repository;
  context.agentHasStarted = true;
  progress.completionSignal = yield* runIterations({
    agent: plan.agent,
    sandbox: exportingHandle(work.session.repository, work.checkout.branch),
    cwd: `${handle.worktreePath}/${plan.repository.prefix}`.replace(/\/$/, ""),
    prompt: plan.prompt,
    maxIterations: plan.maxIterations,
    completionSignals: plan.completionSignals,
    idleTimeoutMs: plan.idleTimeoutMs,
    completionTimeoutMs: plan.completionTimeoutMs,
    onEvent: (event) => {
      if (event.type === "text") progress.addText(event.text);
      log.event(event);
    },
    onWarning: (sentence) => progress.warn(sentence),
    afterIteration: ({ iteration, result, failed, isLast }) =>
      timed(
        context,
        "import commits",
        importWork(work, { label: `iteration-${iteration}`, isLast, failed }),
      ).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            if (!failed) progress.iterations.push(result);
            journal.tell({
              type: "iteration",
              iteration,
              ...(result.usage && { usage: result.usage }),
              commits: progress.commits,
            });
          }),
        ),
      ),
  });
});

const merge = (context: RunContext, { checkout, worktree }: CheckoutSession) => {
  const { plan, progress } = context;
  if (plan.branches.strategy !== "merge-to-head" || worktree === undefined) return Effect.void;
  const arrive = Effect.sync(() => {
    context.isMerged = true;
    progress.branch = plan.branches.targetBranch ?? "HEAD";
  });
  if (context.tip === checkout.sha) return arrive;
  return mergeToHead({
    repository: plan.repository,
    runId: plan.runId,
    sourceBranch: worktree.branch,
    sourceTip: context.tip,
    targetBranch: plan.branches.targetBranch,
    hostConfig: plan.host.config,
  }).pipe(
    Effect.andThen(arrive),
    Effect.tapError(() =>
      Effect.sync(() => {
        context.keepWorktreeReason = "its commits could not be merged";
      }),
    ),
  );
};

/** The steps of a run session, in their order. Every resource is given back, in reverse order, with the scope. */
const steps = Effect.fnUntraced(function* (
  context: RunContext,
): Effect.fn.Return<void, SandduneError, AgentInvoker | Scope.Scope> {
  const { plan } = context;
  const session = yield* timed(context, "worktree", openCheckoutSession(context));
  yield* timed(
    context,
    "copy to worktree",
    copyToWorktree(plan.repository, session.checkout.path, plan.copyToWorktree, plan.copyToWorktreeMs),
  );
  if (plan.copyToWorktree.length > 0) {
    const search = { checkoutPath: session.checkout.path, skipsConfigDirectory: false };
    context.nestedRepositories = yield* findNestedRepositories(search);
  }
  const knownCommits = [...new Set([session.checkout.sha, ...plan.host.refs.map(({ sha }) => sha)])];
  const sandboxSession = yield* timed(
    context,
    "sandbox",
    openSandboxSession({
      ...session,
      plan,
      journal: context.journal,
      knownCommits,
      nestedRepositories: context.nestedRepositories,
      warn: (sentence) => context.progress.warn(sentence),
    }),
  );
  context.progress.warn(...sandboxSession.warnings);
  const work = { context, checkout: session.checkout, session: sandboxSession, knownCommits };
  yield* timed(context, "agent", iterate(context, work));
  yield* timed(context, "merge", merge(context, session));
});

/**
 * The caller gets the very reason that was given. If that is an error of ours, made for this run, it can tell what was
 * reached; one that tells of another run already is left alone.
 */
const tellAborter = ({ plan, progress }: RunContext): void => {
  const reason: unknown = plan.signal?.reason;
  if (reason instanceof SandduneError && reason.runId === undefined) progress.attachTo(reason);
};

/** One run session, from the lock to the result. The one engine behind every door. */
export const runSession = (plan: RunPlan): Effect.Effect<RunResult, SandduneError, AgentInvoker> =>
  withHostFileErrors(Effect.sync(() => openContext(plan))).pipe(
    Effect.flatMap((context) =>
      withHostFileErrors(Effect.scoped(steps(context))).pipe(
        Effect.onExit((exit) =>
          tidying(closeContext(context, exit), (sentence) => context.progress.warn(sentence)),
        ),
        Effect.map(() => context.progress.toResult()),
        Effect.mapError((error) => context.progress.attachTo(error)),
        Effect.onInterrupt(() => Effect.sync(() => tellAborter(context))),
      ),
    ),
  );
