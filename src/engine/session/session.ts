import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Scope from "effect/Scope";
import { withHostFileErrors } from "../../boundary/failures.ts";
import type { EndState, RunDisplay } from "../../display/contract.ts";
import { logFilePathOf, openDisplay } from "../../display/openDisplay.ts";
import { Tally } from "../../display/tally.ts";
import { RunStoppedError, SandduneError } from "../../errors.ts";
import { SharedGit, sharingGit } from "../../git/longLived/sharedGit.ts";
import { sessionReason, updateRefs } from "../../git/refs.ts";
import { summariseWork, type WorkSummary } from "../../git/workSummary.ts";
import { readBranchFile } from "../../git/worktrees/worktreeListFiles.ts";
import { ensureConfigDirectoryPart } from "../../options/configDirectory.ts";
import { describeExitCode } from "../../process/exitCode.ts";
import { ownIdentity } from "../../process/kill/processIdentity.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { redactData } from "../../redaction/redactData.ts";
import { Redactor } from "../../redaction/redactor.ts";
import { endGuard } from "../../runs/journal/cleanGuard.ts";
import { Journal } from "../../runs/journal/writeJournal.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { removeOverlay } from "../checkout/overlay.ts";
import { noteAborted } from "../landing/abortedRuns.ts";
import { detachedHeadWarning } from "../landing/detachedCommits.ts";
import type { SessionPlan } from "../plan/plan.ts";
import { redactedDisplay } from "./redactedDisplay.ts";
import { RunProgress } from "./runProgress.ts";
import { stoppable } from "./stoppable.ts";
import { warnOnFailure } from "./warnOnFailure.ts";

/** One call of an entry point, with its journal, display and progress. */
export interface Session {
  /** Replaced if the host repository has changed meanwhile. */
  plan: SessionPlan;
  readonly journal: Journal;
  readonly display: RunDisplay;
  readonly progress: RunProgress;
  readonly tally: Tally;
  /** Redacts everything that leaves the session. */
  readonly redactor: Redactor;
  agentHasStarted: boolean;
  /** The session's refs whose commits are all kept elsewhere too. */
  readonly redundantRefs: Set<string>;
  /** The session's files contain the only copy of some work, so they are kept. */
  keepsFiles: boolean;
  /** The session has an overlay whose work is not in the worktree, or may not be. Its files are kept as well: recovery needs them. */
  keepsOverlay: boolean;
  /** The summary of these commits, which is being made. */
  summary:
    | { readonly commits: readonly string[]; readonly work: Fiber.Fiber<WorkSummary | undefined> }
    | undefined;
}

const notRedacted = (name: string): string =>
  `The value of ${name} is not redacted, because it is part of the repository's path, a branch, or another name that must be shown.`;

/** Makes the redactor of a session. It does not redact names that must be shown. */
export const redactorFor = (plan: SessionPlan, secrets: ReadonlyMap<string, string>): Redactor => {
  const { sourceBranch, targetBranch } = plan.branches;
  const known = [
    plan.repository.topLevel,
    sourceBranch,
    targetBranch,
    plan.sandboxName,
    plan.agentName,
    plan.name,
  ];
  return new Redactor(
    secrets,
    known.map((text) => text ?? ""),
  );
};

/** Opens the journal and display. From here on, other processes can find the session. */
const openSession = (plan: SessionPlan): Session => {
  const { runId, name, logging, agentName, sandboxName } = plan;
  const { configDirectory } = plan.repository;
  const { strategy, sourceBranch, targetBranch } = plan.branches;
  const redactor = redactorFor(plan, plan.env.secrets);
  // Create all directories before a sandbox exists, which could otherwise create a missing one itself.
  for (const part of ["worktrees", "logs"] as const) ensureConfigDirectoryPart(configDirectory, part);
  const logFilePath = logFilePathOf(configDirectory, runId, name);
  const runDirectory = join(ensureConfigDirectoryPart(configDirectory, "runs"), runId);
  const journal = new Journal(runDirectory, (sentence) => redactor.text(sentence));
  journal.write({
    type: "begun",
    runId,
    kind: plan.kind,
    within: plan.within,
    name,
    owner: ownIdentity(),
    agent: agentName,
    sandbox: sandboxName,
    strategy,
    sourceBranch,
    targetBranch,
    logFilePath,
    temporaryDirectory: realpathSync(tmpdir()),
  });
  const display = redactedDisplay(
    openDisplay({ kind: plan.kind, logFilePath, logging, agent: agentName ?? "", name }),
    redactor,
  );
  const progress = new RunProgress(runId, sourceBranch ?? "HEAD", logFilePath, redactor, (sentence) =>
    display.warn(sentence),
  );
  progress.warn(...plan.warnings, ...redactor.exempt.map(notRedacted));
  return {
    plan,
    journal,
    display,
    progress,
    tally: new Tally(plan.startedAt),
    redactor,
    agentHasStarted: false,
    redundantRefs: new Set(),
    keepsFiles: false,
    keepsOverlay: false,
    summary: undefined,
  };
};

const stateOf = (exit: Exit.Exit<unknown, unknown>, { solved }: RunProgress): EndState => {
  if (exit._tag === "Success") return solved === false ? "unsolved" : "succeeded";
  const isStopped = Cause.squash(exit.cause) instanceof RunStoppedError;
  return isStopped || Cause.hasInterrupts(exit.cause) ? "aborted" : "failed";
};

/** A person may not notice that the agent crashed. */
const howAgentEnded = ({ exitCode = 0 }: RunProgress) =>
  exitCode !== 0 && { problem: `The agent ended with ${describeExitCode(exitCode)}.` };

/** A failure to remove the files must not change how the session ends. */
const removeFiles = ({ journal, progress }: Session): Effect.Effect<void> =>
  Effect.promise(() =>
    removeDirectory(journal.filesDirectory)
      .then(() => endGuard(journal.runDirectory))
      .catch((error: unknown) => {
        progress.warn(`${journal.filesDirectory} could not be removed: ${String(error)}`);
      }),
  );

/** Begins the summary while the commits land and everything is released. */
export const beginSummary = Effect.fnUntraced(function* (session: Session): Effect.fn.Return<void> {
  const { plan, progress } = session;
  const { repository } = plan;
  const { commits, described } = progress;
  const known = { branch: readBranchFile(repository), described };
  const summarising = summariseWork(repository.topLevel, commits, known);
  session.summary = { commits, work: yield* Effect.forkDetach(summarising, { startImmediately: true }) };
});

/** The last step of every session. Removes refs and files that are only copies, and keeps all others. */
const closeSession = Effect.fnUntraced(function* (
  session: Session,
  exit: Exit.Exit<unknown, unknown>,
): Effect.fn.Return<void> {
  const { plan, journal, display, progress, tally } = session;
  const removingRefs = Effect.ignore(
    updateRefs(
      plan.repository.topLevel,
      [...session.redundantRefs].map((ref) => ({ ref, to: undefined })),
    ),
  );
  const shared = yield* SharedGit;
  if (session.summary?.commits !== progress.commits) yield* beginSummary(session);
  yield* Effect.all(
    [
      // Its processes end while the rest is done.
      Effect.tap(removingRefs, () => Effect.sync(() => shared?.finish())),
      session.keepsFiles || session.keepsOverlay ? Effect.void : removeFiles(session),
      removeOverlay(session),
    ],
    { concurrency: "unbounded" },
  );
  const state = stateOf(exit, progress);
  const problem =
    exit._tag === "Failure" && state === "failed" ? messageOf(Cause.squash(exit.cause)) : undefined;
  const explained = problem !== undefined && { problem };
  progress.warn(...detachedHeadWarning(progress.reached()));
  if (display.failure !== undefined) progress.warn(`The run log is not complete: ${display.failure}`);
  const summary = session.summary && (yield* Fiber.join(session.summary.work));
  const reached = { ...progress.reached(), work: redactData(session.redactor, summary) };
  display.close({ state, ...howAgentEnded(progress), ...explained, reached, tally });
  // Last, because programs that follow the run log stop when the journal says that the session has ended.
  const { solved } = progress;
  journal.tell({ type: "ended", state, ...(solved !== undefined && { solved }), ...explained });
});

/** The caller gets `signal.reason` itself. An error of ours without progress gets that of this session. */
const reportToAborter = ({ plan, progress }: Session, signal: AbortSignal | undefined): void => {
  const { name } = plan;
  noteAborted(signal, { ...(name !== undefined && { name }), ...progress.reached() });
  const reason: unknown = signal?.reason;
  if (reason instanceof SandduneError && reason.runId === undefined) progress.attachTo(reason);
};

/** Attaches the progress of a session to its errors and to an abort. */
export const withProgressInErrors = <A, E, R>(
  session: Session,
  body: Effect.Effect<A, E, R>,
  signal = session.plan.signal,
): Effect.Effect<A, E, R> =>
  body.pipe(
    Effect.mapError((error) => session.progress.attachTo(error)),
    // An unexpected error may contain a secret, too.
    Effect.onError(({ reasons }) =>
      Effect.sync(() => {
        for (const reason of reasons)
          if (Cause.isDieReason(reason)) redactData(session.redactor, reason.defect);
      }),
    ),
    Effect.onInterrupt(() => Effect.sync(() => reportToAborter(session, signal))),
  );

const beginSession = (plan: SessionPlan): Effect.Effect<Session, SandduneError> =>
  withHostFileErrors(Effect.sync(() => openSession(plan)));

const endSession = (session: Session, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  warnOnFailure(closeSession(session, exit), (sentence) => session.progress.warn(sentence));

/** Git fetches the missing objects of a partial clone, perhaps from a path that is relative to the checkout. */
const isPartialClone = ({ host }: SessionPlan): boolean =>
  host.config.some(([key]) => key === "extensions.partialclone" || /^remote\..*\.promisor$/.test(key));

const sharingGitOf =
  (plan: SessionPlan) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    isPartialClone(plan) ? work : sharingGit(plan.repository, sessionReason(plan.runId))(work);

/** Runs `body` in a session. When the session has closed, `read` makes the result. */
export const withSession = <A, R>(
  plan: SessionPlan,
  body: (session: Session) => Effect.Effect<void, SandduneError, R>,
  read: (session: Session) => A,
): Effect.Effect<A, SandduneError, R> =>
  Effect.flatMap(beginSession(plan), (session) =>
    withProgressInErrors(
      session,
      stoppable(session.journal, plan.runId, withHostFileErrors(Effect.suspend(() => body(session)))).pipe(
        Effect.onExit((exit) => endSession(session, exit)),
        Effect.map(() => read(session)),
      ),
    ).pipe(sharingGitOf(plan)),
  );

/** A session that outlives the call that opened it. */
export interface Kept<A> {
  readonly session: Session;
  readonly value: A;
  /** Releases all resources in reverse order. */
  readonly close: Effect.Effect<void>;
}

/** Opens a session that lasts until it is closed. If `open` fails, all that it acquired is released. */
export const keepSession = <A, R>(
  plan: SessionPlan,
  open: (session: Session) => Effect.Effect<A, SandduneError, R | Scope.Scope>,
): Effect.Effect<Kept<A>, SandduneError, Exclude<R, Scope.Scope>> =>
  Effect.suspend(() => {
    let kept: Kept<A> | undefined;
    return Effect.uninterruptibleMask(
      (restore) =>
        Effect.flatMap(beginSession(plan), (session) => {
          const scope = Scope.makeUnsafe();
          const end = (exit: Exit.Exit<unknown, unknown>) =>
            Effect.ensuring(Scope.close(scope, exit), endSession(session, exit)).pipe(sharingGitOf(plan));
          const opened = stoppable(
            session.journal,
            plan.runId,
            withHostFileErrors(Effect.suspend(() => open(session))).pipe(
              Scope.provide(scope),
              // While it is open, no process waits for the next call.
              sharingGitOf(plan),
            ),
          );
          return withProgressInErrors(
            session,
            restore(opened).pipe(
              Effect.onExit((exit) => (exit._tag === "Failure" ? end(exit) : Effect.void)),
              Effect.map((value) => {
                kept = { session, value, close: end(Exit.void) };
                return kept;
              }),
            ),
          );
        }),
      // If an abort comes after everything was opened, the caller does not get it, so it is closed.
    ).pipe(Effect.onInterrupt(() => Effect.suspend(() => kept?.close ?? Effect.void)));
  });
