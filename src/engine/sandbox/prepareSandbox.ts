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
import { timed } from "../session/phases.ts";
import type { Session } from "../session/session.ts";
import { warnOnFailure } from "../session/warnOnFailure.ts";
import { openSandboxSession, type SandboxSession } from "./sandboxSession.ts";

/** What was committed outside of any call, by a failing hook or by what a command has left running, is brought home. */
const importRest = (session: Session, sandbox: SandboxSession): Effect.Effect<void> => {
  const mayHaveNews = sandbox.hasNews || (!sandbox.endsWithCall && sandbox.checkout.isUsed);
  if (!mayHaveNews) return Effect.void;
  // As after a failure: whoever closes a sandbox is waiting, and nothing has announced that there is more to come.
  const work = { session, sandbox, base: sandbox.tip };
  return warnOnFailure(
    importWork(work, { label: "rest", failed: true, isLast: true, isPacked: false, closes: true }),
    (sentence) => session.progress.warn(sentence),
  );
};

/** What has to be known about a checkout if this process dies while an agent works in it. */
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

/**
 * Makes a sandbox over a checkout, and gets it ready. It is closed with the scope, after what is in it has been brought
 * home; the checkout stays, and belongs to whoever it belonged to.
 */
export const prepareSandbox = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  plan: SandboxPlan<SandboxProvider>,
  { endsWithCall }: { readonly endsWithCall: boolean },
): Effect.fn.Return<SandboxSession, SandduneError, Scope.Scope> {
  yield* requireOnBranch(checkout);
  yield* pinBase(session, checkout);
  session.journal.write(workingEntry(checkout, plan.provider.type === "isolated"), { isDurable: true });
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
  // Registered before the sandbox is opened, so that it comes after the sandbox has ended.
  yield* Effect.addFinalizer((exit) =>
    opened === undefined ? Effect.void : importLateWork(session, opened, exit),
  );
  const sandbox = yield* timed(
    session,
    { phase: "sandbox", label: `Starting the ${plan.provider.name} sandbox` },
    openSandboxSession({ session, checkout, plan, endsWithCall, packageOnHost: files?.forAgent }),
  );
  opened = sandbox;
  session.progress.warn(...sandbox.warnings);
  yield* Effect.addFinalizer(() => importRest(session, sandbox));
  const runsCommands = plan.hooks["sandbox.onSandboxReady"].length > 0 || plan.environment !== undefined;
  checkout.isUsed ||= runsCommands;
  sandbox.hasNews = runsCommands;
  yield* runSandboxHooks(session, checkout, plan, sandbox.repository.handle);
  sandbox.environment = yield* openEnvironment(session, sandbox, plan, files);
  return sandbox;
});
