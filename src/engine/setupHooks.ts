import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { InvalidOptionsError, type SandduneError } from "../errors.ts";
import { findNestedRepositories } from "../git/nestedRepositories.ts";
import { branchRef, resolveCommit } from "../git/refs.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import type { CheckoutSession } from "./checkoutSession.ts";
import { openHostPlace, sandboxPlace } from "./hookPlaces.ts";
import { runHooks } from "./hooks.ts";
import { labelled, timed } from "./phases.ts";
import type { RunContext } from "./runContext.ts";
import { sandboxDirectory } from "./sandboxForRun.ts";

const isRealDirectory = (checkoutPath: string, prefix: string): boolean => {
  try {
    return (
      join(realpathSync(join(checkoutPath, prefix)), "/") === join(realpathSync(checkoutPath), prefix, "/")
    );
  } catch {
    return false;
  }
};

export interface SetupHooks {
  /** Gives the checkout as the hooks have left it. */
  readonly onWorktreeReady: Effect.Effect<CheckoutSession, SandduneError>;
  readonly onSandboxReady: (sandbox: SandboxHandle) => Effect.Effect<void, SandduneError>;
}

/**
 * Takes notice of what was brought into the checkout on the user's behalf: commits are what the agent starts from, and
 * repositories are not the agent's.
 */
const takeNotice = Effect.fnUntraced(function* (
  context: RunContext,
  session: CheckoutSession,
): Effect.fn.Return<CheckoutSession, SandduneError> {
  const { checkout, worktree } = session;
  const skipsConfigDirectory = checkout.path === dirname(context.plan.repository.configDirectory);
  context.nestedRepositories = yield* findNestedRepositories({
    checkoutPath: checkout.path,
    skipsConfigDirectory,
  });
  const sha = yield* resolveCommit(
    checkout.path,
    checkout.branch === undefined ? "HEAD" : branchRef(checkout.branch),
  );
  if (sha === undefined || sha === checkout.sha) return session;
  context.tip = sha;
  context.indexAt = sha;
  return { checkout: { ...checkout, sha }, worktree: worktree && { ...worktree, baseSha: sha } };
});

/** The hooks of a run's setup. What hooks on the host leave running ends with the scope. */
export const openSetupHooks = Effect.fnUntraced(function* (
  context: RunContext,
  session: CheckoutSession,
): Effect.fn.Return<SetupHooks, never, Scope.Scope> {
  const { plan, display } = context;
  const { hooks } = plan;
  const output = {
    onLine: (hook: string, line: string) => display.hookLine(hook, line),
    redactor: context.redactor,
  };
  const { prefix } = plan.repository;
  const cwd = join(session.checkout.path, prefix);
  const hostPlace = yield* openHostPlace({
    path: cwd,
    // Each time anew: what an agent has committed, or what runs in the sandbox, may put a link there.
    check: () => {
      if (!isRealDirectory(session.checkout.path, prefix)) {
        throw new InvalidOptionsError(
          "cwd",
          `the branch has no directory ${prefix}, where hooks were to run`,
        );
      }
    },
    onExecId: (execId) => context.journal.write({ type: "creating", what: "host processes", name: execId }),
  });
  const runOnHost = (name: "host.onWorktreeReady" | "host.onSandboxReady") =>
    runHooks(hostPlace(name), hooks[name], output);
  const changesWorktree = plan.copyToWorktree.length > 0 || hooks["host.onWorktreeReady"].length > 0;
  return {
    onWorktreeReady: timed(
      context,
      labelled(
        "hooks on the worktree",
        hooks["host.onWorktreeReady"].length > 0,
        "Running the hooks host.onWorktreeReady",
      ),
      runOnHost("host.onWorktreeReady"),
    ).pipe(
      Effect.andThen(
        Effect.suspend(() => (changesWorktree ? takeNotice(context, session) : Effect.succeed(session))),
      ),
    ),
    onSandboxReady: (sandbox) => {
      context.sandboxIsUsed ||= hooks["sandbox.onSandboxReady"].length > 0;
      return timed(
        context,
        labelled(
          "hooks on the sandbox",
          hooks["host.onSandboxReady"].length + hooks["sandbox.onSandboxReady"].length > 0,
          "Running the hooks onSandboxReady",
        ),
        Effect.all(
          [
            runOnHost("host.onSandboxReady"),
            runHooks(
              sandboxPlace(sandbox, sandboxDirectory(plan, sandbox)),
              hooks["sandbox.onSandboxReady"],
              output,
            ),
          ],
          { concurrency: "unbounded", discard: true },
        ),
      );
    },
  };
});
