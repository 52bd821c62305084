import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Scope from "effect/Scope";
import { withHostFileErrors } from "../../boundary/failures.ts";
import type { EndState, RunDisplay } from "../../display/contract.ts";
import { logFilePathOf, openDisplay } from "../../display/openDisplay.ts";
import { Tally } from "../../display/tally.ts";
import { RunStoppedError, SandduneError } from "../../errors.ts";
import { updateRefs } from "../../git/refs.ts";
import { summariseWork } from "../../git/workSummary.ts";
import { ensureConfigDirectoryPart } from "../../options/configDirectory.ts";
import { describeExitCode } from "../../process/exitCode.ts";
import { ownIdentity } from "../../process/kill/processIdentity.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { redactData } from "../../redaction/redactData.ts";
import { Redactor } from "../../redaction/redactor.ts";
import { Journal } from "../../runs/journal/writeJournal.ts";
import { noteAborted } from "../landing/abortedRuns.ts";
import { detachedHeadWarning } from "../landing/detachedCommits.ts";
import type { SessionPlan } from "../plan/plan.ts";
import { redactedDisplay } from "./redactedDisplay.ts";
import { RunProgress } from "./runProgress.ts";
import { stoppable } from "./stoppable.ts";
import { warnOnFailure } from "./warnOnFailure.ts";

/** One call of a door, and what it has to tell: its journal, its display, what it has reached. */
export interface Session {
  /** Replaced if the host repository has changed since it was made. */
  plan: SessionPlan;
  readonly journal: Journal;
  readonly display: RunDisplay;
  readonly progress: RunProgress;
  readonly tally: Tally;
  /** Takes the secrets out of everything that leaves the session. */
  readonly redactor: Redactor;
  agentHasStarted: boolean;
  /** Refs of the session's own that hold nothing that is not held elsewhere too. */
  readonly redundantRefs: Set<string>;
  /** Files of this session hold work that is nowhere else: they stay. */
  keepsFiles: boolean;
}

const notRedacted = (name: string): string =>
  `The value of ${name} is part of the repository's path, of a branch, or of another name that has to be shown: it is not redacted.`;

/** Takes secrets out of what a session tells, but not what has to be told. */
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

/** Begins the session's journal and display. From here on it can be found, whatever happens to this process. */
const openSession = (plan: SessionPlan): Session => {
  const { runId, name, logging, agentName, sandboxName } = plan;
  const { configDirectory } = plan.repository;
  const { strategy, sourceBranch, targetBranch } = plan.branches;
  const redactor = redactorFor(plan, plan.env.secrets);
  // All of them, before any sandbox could see that one is missing.
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
  };
};

const stateOf = (exit: Exit.Exit<unknown, unknown>, { solved }: RunProgress): EndState => {
  if (exit._tag === "Success") return solved === false ? "unsolved" : "succeeded";
  const isStopped = Cause.squash(exit.cause) instanceof RunStoppedError;
  return isStopped || Cause.hasInterrupts(exit.cause) ? "aborted" : "failed";
};

/** A person who has left the agent knows how; one whose agent has crashed may not. */
const howAgentEnded = ({ exitCode = 0 }: RunProgress) =>
  exitCode !== 0 && { problem: `The agent ended with ${describeExitCode(exitCode)}.` };

const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason));

/** Whatever the agent has put there, it must not keep a session from ending as it has ended. */
const removeFiles = ({ journal, progress }: Session): Effect.Effect<void> =>
  Effect.promise(() =>
    removeDirectory(journal.filesDirectory).catch((error: unknown) => {
      progress.warn(`${journal.filesDirectory} could not be removed: ${String(error)}`);
    }),
  );

/** The last step of every session: what held nothing but copies goes, what is the only copy stays. */
const closeSession = Effect.fnUntraced(function* (
  session: Session,
  exit: Exit.Exit<unknown, unknown>,
): Effect.fn.Return<void> {
  const { plan, journal, display, progress, tally } = session;
  yield* Effect.ignore(
    updateRefs(
      plan.repository.topLevel,
      [...session.redundantRefs].map((ref) => ({ ref, to: undefined })),
    ),
  );
  if (!session.keepsFiles) yield* removeFiles(session);
  const state = stateOf(exit, progress);
  const problem =
    exit._tag === "Failure" && state === "failed" ? messageOf(Cause.squash(exit.cause)) : undefined;
  const explained = problem !== undefined && { problem };
  progress.warn(...detachedHeadWarning(progress.reached()));
  if (display.failure !== undefined) progress.warn(`The run log is not complete: ${display.failure}`);
  const work = yield* summariseWork(plan.repository.topLevel, progress.commits);
  const reached = { ...progress.reached(), work: redactData(session.redactor, work) };
  display.close({ state, ...howAgentEnded(progress), ...explained, reached, tally });
  // Last: who follows the run log reads it to its end once the journal says that there is no more to come.
  const { solved } = progress;
  journal.tell({ type: "ended", state, ...(solved !== undefined && { solved }), ...explained });
});

/**
 * The caller gets the very reason that was given. If that is an error of ours, made for this session, it can tell what
 * was reached; one that tells of another session already is left alone.
 */
const tellAborter = ({ plan, progress }: Session, signal: AbortSignal | undefined): void => {
  const { name } = plan;
  noteAborted(signal, { ...(name !== undefined && { name }), ...progress.reached() });
  const reason: unknown = signal?.reason;
  if (reason instanceof SandduneError && reason.runId === undefined) progress.attachTo(reason);
};

/** Lets the errors of a session, and whoever aborts it, tell what it has reached. */
export const withProgressInErrors = <A, E, R>(
  session: Session,
  body: Effect.Effect<A, E, R>,
  signal = session.plan.signal,
): Effect.Effect<A, E, R> =>
  body.pipe(
    Effect.mapError((error) => session.progress.attachTo(error)),
    // What nobody foresaw may quote a secret as well.
    Effect.onError(({ reasons }) =>
      Effect.sync(() => {
        for (const reason of reasons)
          if (Cause.isDieReason(reason)) redactData(session.redactor, reason.defect);
      }),
    ),
    Effect.onInterrupt(() => Effect.sync(() => tellAborter(session, signal))),
  );

const beginSession = (plan: SessionPlan): Effect.Effect<Session, SandduneError> =>
  withHostFileErrors(Effect.sync(() => openSession(plan)));

const endSession = (session: Session, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  warnOnFailure(closeSession(session, exit), (sentence) => session.progress.warn(sentence));

/** A session that lasts as long as `body`. When it is closed, `read` says what came of it. */
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
    ),
  );

/** What outlives the call that made it. */
export interface Kept<A> {
  readonly session: Session;
  readonly value: A;
  /** Gives everything back, in reverse order. */
  readonly close: Effect.Effect<void>;
}

/** A session that lasts until it is closed; everything that `open` acquires lasts as long. If `open` fails nothing is left. */
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
            Effect.ensuring(Scope.close(scope, exit), endSession(session, exit));
          const opened = stoppable(
            session.journal,
            plan.runId,
            withHostFileErrors(Effect.suspend(() => open(session))).pipe(Scope.provide(scope)),
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
      // An abort that comes when everything is there finds nobody who would have it.
    ).pipe(Effect.onInterrupt(() => Effect.suspend(() => kept?.close ?? Effect.void)));
  });
