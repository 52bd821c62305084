import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import type * as Exit from "effect/Exit";
import type * as Scope from "effect/Scope";
import { SandduneError } from "../errors.ts";
import { copyToWorktree } from "../git/copyToWorktree.ts";
import { mergeToHead } from "../git/mergeToHead.ts";
import { updateRefs } from "../git/refs.ts";
import { removeDirectory } from "../process/removeDirectory.ts";
import type { RunResult } from "../results.ts";
import type { AgentInvoker } from "./agentInvoker.ts";
import { type CheckoutSession, openCheckoutSession } from "./checkoutSession.ts";
import { withHostFileErrors } from "./hostFileErrors.ts";
import { iterate } from "./iterate.ts";
import { labelled, timed } from "./phases.ts";
import { openContext, type RunContext } from "./runContext.ts";
import type { RunPlan } from "./runPlan.ts";
import { sandboxForRun } from "./sandboxForRun.ts";
import { openSandboxSession } from "./sandboxSession.ts";
import { openSetupHooks } from "./setupHooks.ts";
import { tidying } from "./tidying.ts";

const stateOf = (exit: Exit.Exit<unknown, unknown>): "succeeded" | "failed" | "aborted" => {
  if (exit._tag === "Success") return "succeeded";
  return Cause.hasInterrupts(exit.cause) ? "aborted" : "failed";
};

const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason));

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
  const { plan, journal, display, progress, tally } = context;
  yield* Effect.ignore(
    updateRefs(
      plan.repository.topLevel,
      [...context.redundantRefs].map((ref) => ({ ref, to: undefined })),
    ),
  );
  if (!context.keepsRunFiles) yield* removeRunFiles(context);
  const state = stateOf(exit);
  const problem =
    exit._tag === "Failure" && state === "failed" ? messageOf(Cause.squash(exit.cause)) : undefined;
  const explained = problem !== undefined && { problem };
  journal.tell({ type: "ended", state, ...explained });
  if (display.failure !== undefined) progress.warn(`The run log is not complete: ${display.failure}`);
  display.close({ state, ...explained, reached: progress.reached(), tally });
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
  const opened = yield* timed(
    context,
    labelled("worktree", plan.source !== undefined, "Making the worktree"),
    openCheckoutSession(context),
  );
  yield* timed(
    context,
    labelled("copy to worktree", plan.copyToWorktree.length > 0, `Copying ${plan.copyToWorktree.join(", ")}`),
    copyToWorktree(plan.repository, opened.checkout.path, plan.copyToWorktree, plan.copyToWorktreeMs),
  );
  const hooks = yield* openSetupHooks(context, opened);
  const session = yield* hooks.onWorktreeReady;
  const knownCommits = [...new Set([session.checkout.sha, ...plan.host.refs.map(({ sha }) => sha)])];
  const sandboxSession = yield* timed(
    context,
    { phase: "sandbox", label: `Starting the ${plan.sandbox.name} sandbox` },
    openSandboxSession({
      ...session,
      plan,
      journal: context.journal,
      display: context.display,
      knownCommits,
      nestedRepositories: context.nestedRepositories,
      warn: (sentence) => context.progress.warn(sentence),
    }),
  );
  context.progress.warn(...sandboxSession.warnings);
  const work = { context, checkout: session.checkout, session: sandboxSession, knownCommits };
  const sandbox = sandboxForRun(plan, sandboxSession.repository.handle);
  yield* hooks.onSandboxReady(sandbox);
  yield* timed(context, { phase: "agent" }, iterate(work));
  yield* timed(
    context,
    labelled("merge", plan.branches.strategy === "merge-to-head", "Merging"),
    merge(context, opened),
  );
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
