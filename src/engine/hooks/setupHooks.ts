import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import type { HostHook, SandboxHook } from "../../options/hooks.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { sandboxDirectory, withEnv } from "../../sandboxes/handle/handleWithEnv.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { refreshCheckout } from "../checkout/hostChanges.ts";
import { checkHostDirectory, hostDirectory } from "../checkout/hostDirectory.ts";
import type { CheckoutPlan, SandboxPlan } from "../plan/plan.ts";
import { labelled, timed } from "../session/phases.ts";
import type { Session } from "../session/session.ts";
import { keepSetup } from "../setup/keepSetup.ts";
import { type OpenSetup, origin, shown } from "../setup/openSetup.ts";
import { openHostHookRunner, sandboxHookRunner } from "./hookRunners.ts";
import { type HookName, type HookOutput, runHooks } from "./runHook.ts";

const hookOutput = ({ display, redactor }: Session): HookOutput => ({
  onLine: (hook, line) => display.hookLine(hook, line),
  redactor,
});

/** Runs a list of hooks on the host. The scope kills processes that they leave running. */
const runOnHost = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  name: Exclude<HookName, "sandbox.onSandboxReady">,
  hooks: readonly HostHook[],
): Effect.fn.Return<void, SandduneError, Scope.Scope> {
  const place = yield* openHostHookRunner({
    path: hostDirectory(checkout),
    // Checked before each hook: a commit of an agent, or a process in the sandbox, may have put a link there.
    check: () => checkHostDirectory(checkout),
    onExecId: (execId) => session.journal.write({ type: "creating", what: "host processes", name: execId }),
  });
  yield* runHooks(place(name), hooks, hookOutput(session));
});

/** Runs the hooks that prepare the checkout, before the sandbox exists. */
export const runWorktreeHooks = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  { onWorktreeReady, copyToWorktree }: CheckoutPlan,
): Effect.fn.Return<void, SandduneError, Scope.Scope> {
  yield* timed(
    session,
    labelled("hooks on the worktree", onWorktreeReady.length > 0, "Running the hooks host.onWorktreeReady"),
    runOnHost(session, checkout, "host.onWorktreeReady", onWorktreeReady),
  );
  if (onWorktreeReady.length > 0 || copyToWorktree.length > 0) yield* refreshCheckout(checkout);
});

/** Runs hooks in a directory of the sandbox. */
export const runHooksIn = (
  session: Session,
  handle: SandboxHandle,
  cwd: string,
  hooks: readonly SandboxHook[],
): Effect.Effect<void, SandduneError> =>
  runHooks(sandboxHookRunner(withEnv(session.plan.env, handle), cwd), hooks, hookOutput(session));

/** Runs the first hooks and keeps their result, or says that the sandbox has it already. */
const runSetup = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  handle: SandboxHandle,
  setup: OpenSetup,
): Effect.fn.Return<void, SandduneError> {
  const { taken, plan } = setup;
  if (taken !== undefined)
    return session.display.note(`Started from the kept set-up (${origin(taken)}): ${shown(session, plan)}`);
  yield* timed(
    session,
    { phase: "hooks with cache", label: `Running ${shown(session, plan)}` },
    runHooksIn(session, handle, sandboxDirectory(checkout.repository, handle), plan.hooks),
  );
  yield* keepSetup(session, checkout, handle, setup);
});

/**
 * Runs the hooks that prepare the sandbox, on the host and in the sandbox in parallel. Hooks whose result may be kept run before
 * all others, so that it holds nothing else.
 */
export const runSandboxHooks = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  { hooks }: Pick<SandboxPlan, "hooks">,
  handle: SandboxHandle,
  setup?: OpenSetup,
): Effect.fn.Return<void, SandduneError, Scope.Scope> {
  const onHost = hooks["host.onSandboxReady"];
  const inSandbox = hooks["sandbox.onSandboxReady"].slice(setup?.plan.hooks.length ?? 0);
  if (setup !== undefined) yield* runSetup(session, checkout, handle, setup);
  yield* timed(
    session,
    labelled(
      "hooks on the sandbox",
      onHost.length + inSandbox.length > 0,
      "Running the hooks onSandboxReady",
    ),
    Effect.all(
      [
        runOnHost(session, checkout, "host.onSandboxReady", onHost),
        runHooksIn(session, handle, sandboxDirectory(checkout.repository, handle), inSandbox),
      ],
      { concurrency: "unbounded", discard: true },
    ),
  );
});
