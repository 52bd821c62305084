import * as Effect from "effect/Effect";
import type * as Exit from "effect/Exit";
import type { SandduneError } from "../../errors.ts";
import { hasUnimportedCommits } from "../../git/recovery/unimportedCommits.ts";
import { SANDBOX_CHECKPOINT_REF } from "../../git/runRefs.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import type { Session } from "../session/session.ts";
import { warnOnFailure } from "../session/warnOnFailure.ts";
import { importWork } from "./importWork.ts";
import { keepFiles, whereKept } from "./keepWork.ts";
import { land } from "./land.ts";

/** Whether the git directory of a closed sandbox has commits that were not imported. */
const hasMore = (sandbox: SandboxSession, gitDirectory: string): Effect.Effect<boolean, SandduneError> =>
  hasUnimportedCommits(sandbox.checkout.repository, gitDirectory, {
    known: new Set([...sandbox.sharedCommits, ...sandbox.laterCommits, sandbox.tip]),
    ownRef: sandbox.recordsCheckpoints ? SANDBOX_CHECKPOINT_REF : undefined,
  });

const importMore = Effect.fnUntraced(function* (
  session: Session,
  sandbox: SandboxSession,
  exit: Exit.Exit<unknown, unknown>,
): Effect.fn.Return<void, SandduneError> {
  const { checkout } = sandbox;
  const { progress } = session;
  const hadLanded = checkout.tip === checkout.landed;
  const before = checkout.tip;
  const earlier = progress.commits;
  // In a sandbox of one call, all commits since it was opened belong to that call.
  const base = (sandbox.endsWithCall ? sandbox.sharedCommits[0] : undefined) ?? sandbox.tip;
  const moment = { label: "late", failed: true, isLast: true, isPacked: false, isOver: true };
  yield* importWork({ session, sandbox, base }, moment);
  if (checkout.tip === before) return;
  if (!sandbox.endsWithCall) progress.commits = [...new Set([...earlier, ...progress.commits])];
  progress.warn(
    "A process in the sandbox committed after the agent's command had ended. These commits were imported, too.",
  );
  const isToLand = hadLanded && exit._tag === "Success" && (progress.exitCode ?? 0) === 0;
  if (isToLand) yield* land(session, checkout);
});

/**
 * Imports commits that a process made after the agent had ended, from a closed sandbox whose git directory is on the
 * host. Runs before that directory is removed, and normally reads only a few files. Keeps what cannot be imported.
 */
export const importLateWork = (
  session: Session,
  sandbox: SandboxSession,
  exit: Exit.Exit<unknown, unknown>,
): Effect.Effect<void> => {
  const { hostGitDirectory } = sandbox.repository;
  if (hostGitDirectory === undefined || sandbox.isUnused() || sandbox.owner.keepsFiles) return Effect.void;
  const warn = (sentence: string) => session.progress.warn(sentence);
  const look = hasMore(sandbox, hostGitDirectory).pipe(Effect.catch(() => Effect.succeed(true)));
  const keep = Effect.sync(() => {
    if (sandbox.owner.keepsFiles) return;
    keepFiles({ session, sandbox, base: sandbox.tip }, "it has objects that were not imported");
    session.progress.warn(
      "The git directory of the sandbox has objects that were not imported.",
      ...whereKept(sandbox),
    );
  });
  return Effect.gen(function* () {
    if (!(yield* look)) return;
    // Only tested commits land: later ones are kept, but not put on the branch.
    if (sandbox.environment === undefined) yield* warnOnFailure(importMore(session, sandbox, exit), warn);
    if (yield* look) yield* keep;
  });
};
