import { dirname, relative } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import { toJournalEntries } from "../../git/nestedRepositories/journalEntries.ts";
import type { JournalEntry } from "../../runs/journal/entries.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { type CheckoutSession, pinBase } from "../checkout/checkoutSession.ts";
import { requireOnBranch } from "../checkout/hostChanges.ts";
import { prepareEnvironment } from "../environment/environmentFiles.ts";
import { openEnvironment } from "../environment/openEnvironment.ts";
import { runSandboxHooks } from "../hooks/setupHooks.ts";
import { importLateWork } from "../landing/importLateWork.ts";
import { importWork } from "../landing/importWork.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import { labelled, timed } from "../session/phases.ts";
import type { Session } from "../session/session.ts";
import { warnOnFailure } from "../session/warnOnFailure.ts";
import { prepareSetup } from "../setup/restoreSetup.ts";
import { type ForkSource, openSandboxSession, type SandboxSession } from "./sandboxSession.ts";

/** Imports commits that were made outside any call: by a failed hook, or by a process that a command left running. */
const importRest = (session: Session, sandbox: SandboxSession): Effect.Effect<void> => {
  const mayHaveNews = sandbox.hasNews || (!sandbox.endsWithCall && sandbox.checkout.isUsed);
  if (!mayHaveNews) return Effect.void;
  // `failed` chooses the short time limit: the caller waits for the sandbox to close.
  const work = { session, sandbox, base: sandbox.tip };
  return warnOnFailure(
    importWork(work, { label: "rest", failed: true, isLast: true, isPacked: false, closes: true }),
    (sentence) => session.progress.warn(sentence),
  );
};

/** The data that recovery needs if this process dies while an agent works in the checkout. */
const workingEntry = (
  { repository, path, branch, tip, nestedRepositories }: CheckoutSession,
  isIsolated: boolean,
): JournalEntry => ({
  type: "working",
  checkout: relative(dirname(repository.configDirectory), path),
  branch,
  tip,
  isIsolated,
  nestedRepositories: toJournalEntries(path, nestedRepositories),
});

/** Creates and prepares a sandbox on a checkout. The scope imports its commits and closes it. */
export const prepareSandbox = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  plan: SandboxPlan<SandboxProvider>,
  { endsWithCall, fork }: { readonly endsWithCall: boolean; readonly fork?: ForkSource },
): Effect.fn.Return<SandboxSession, SandduneError, Scope.Scope> {
  yield* requireOnBranch(checkout);
  yield* pinBase(session, checkout);
  session.journal.write(workingEntry(checkout, plan.provider.type === "isolated"), { isDurable: true });
  const setup = yield* timed(
    session,
    labelled("restore the set-up", plan.setup !== undefined, "Looking for the kept set-up"),
    prepareSetup(session, checkout, plan),
  );
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      checkout.openSandboxes++;
    }),
    () =>
      Effect.sync(() => {
        checkout.openSandboxes--;
      }),
  );
  const files = yield* prepareEnvironment(session, plan);
  for (const path of files?.pathsInRepository ?? []) checkout.gradingPaths.add(path);
  let opened: SandboxSession | undefined;
  // Registered before the sandbox is opened, so that it runs after the sandbox has closed.
  yield* Effect.addFinalizer((exit) =>
    opened === undefined ? Effect.void : importLateWork(session, opened, exit),
  );
  const sandbox = yield* timed(
    session,
    { phase: "sandbox", label: `Starting the ${plan.provider.name} sandbox` },
    openSandboxSession({
      ...{ session, checkout, plan, endsWithCall, packageOnHost: files?.forAgent, setup },
      ...(fork && { fork }),
    }),
  );
  opened = sandbox;
  session.progress.warn(...sandbox.warnings);
  yield* Effect.addFinalizer(() => importRest(session, sandbox));
  const runsCommands = plan.hooks["sandbox.onSandboxReady"].length > 0 || plan.environment !== undefined;
  checkout.isUsed ||= runsCommands;
  sandbox.hasNews = runsCommands;
  yield* runSandboxHooks(session, checkout, plan, sandbox.repository.handle, setup);
  sandbox.environment = yield* openEnvironment(session, sandbox, plan, files);
  return sandbox;
});
