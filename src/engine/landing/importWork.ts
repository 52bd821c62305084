import { rmSync } from "node:fs";
import { join } from "node:path";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { ImportRefusedError, SandboxLostError, type SandduneError } from "../../errors.ts";
import { uncommittedRef } from "../../git/runRefs.ts";
import type { Checkpoint } from "../../git/snapshots/checkpoint.ts";
import { exportFromSandbox, isStillExported } from "../../git/transfer/export/exportFromSandbox.ts";
import type { SandboxExport } from "../../git/transfer/export/fetchBundles.ts";
import { takePackedExport } from "../../git/transfer/export/piggybackOnExec.ts";
import { consolidatePacks } from "../../git/transfer/import/consolidatePacks.ts";
import { type ImportedCommits, importCommits } from "../../git/transfer/import/importCommits.ts";
import type { SandboxRepository } from "../../git/transfer/sandboxRepository.ts";
import { moveWorktreeFiles, type WorktreeFiles } from "../../git/worktrees/worktreeFiles.ts";
import type { Trajectory } from "../../trajectory/record/recorder.ts";
import { updateIndex } from "../checkout/updateIndex.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import { beginSummary, type Session } from "../session/session.ts";
import { keepEverything, keptIn, rescue, rescueUnexported, whereKept } from "./keepWork.ts";
import { recordCommits } from "./recordCommits.ts";

/** A session's work in a sandbox. */
export interface SandboxWork {
  readonly session: Session;
  readonly sandbox: SandboxSession;
  /** The commit that the session started from. */
  readonly base: string;
  /** The trajectory of the run, if it is recorded. */
  readonly trajectory?: Trajectory | undefined;
}

/** When, and after what, an import happens. */
export interface ImportMoment {
  /** Part of the names of this import's files. */
  readonly label: string;
  /** The agent failed, or the session was aborted. */
  readonly failed: boolean;
  /** The session does not use the sandbox any more. */
  readonly isLast: boolean;
  /** The command that just ended packs its commits itself, unless it was killed. */
  readonly isPacked: boolean;
  /** The sandbox is closed after this import, even if it outlives the call. */
  readonly closes?: boolean;
  /** The sandbox is closed: commits are exported from a new sandbox on the same files. */
  readonly isOver?: boolean;
}

/**
 * The limit after a failure is short: after an abort the caller is waiting, and git may hang in the repository of an
 * agent that was stopped. It applies only if the files are on the host, where they can be kept instead.
 */
const EXPORT_TIMEOUT_MS = { afterSuccess: 10 * 60_000, afterFailure: 20_000 } as const;

/** The part of `ImportMoment` that matters to an export. */
type ExportMoment = Pick<ImportMoment, "failed" | "isPacked" | "isOver"> & { readonly timeoutMs?: number };

/** An export that has arrived on the host, and the checkpoints that should be part of it. */
interface ArrivedWork extends SandboxExport {
  readonly checkpoints: readonly Checkpoint[];
}

/** Exports from the sandbox or, if it was lost but its files were not, from a new sandbox on the same files. */
const exportNow = (
  { sandbox }: SandboxWork,
  bundlePath: string,
  { failed, isOver = false, timeoutMs }: ExportMoment,
  checkpoint: string | undefined,
) => {
  const { repository, reopen } = sandbox;
  const filesAreOnHost = sandbox.files === undefined;
  const limitMs = failed && filesAreOnHost ? EXPORT_TIMEOUT_MS.afterFailure : EXPORT_TIMEOUT_MS.afterSuccess;
  const request = {
    sourceBranch: sandbox.checkout.branch,
    knownCommits: [...sandbox.sharedCommits, ...sandbox.laterCommits],
    breaksLocks: failed || isOver,
    recordsCheckpoints: sandbox.recordsCheckpoints,
    checkpoint,
    timeoutMs: timeoutMs ?? limitMs,
  };
  const from = (source: SandboxRepository) => exportFromSandbox(source, request, bundlePath);
  if (reopen === undefined) return from(repository);
  const fromNewOne = Effect.scoped(Effect.flatMap(reopen, from));
  if (isOver) return fromNewOne;
  return from(repository).pipe(
    Effect.catchIf(
      (error) => error instanceof SandboxLostError,
      () => fromNewOne,
    ),
  );
};

/** Copies new commits from the sandbox to the host, as files. They are not in the repository yet. */
export const exportWork = Effect.fnUntraced(function* (
  work: SandboxWork,
  bundlePath: string,
  moment: ExportMoment,
): Effect.fn.Return<ArrivedWork, SandduneError> {
  work.sandbox.recordsCheckpoints ||= work.trajectory !== undefined;
  // Later checkpoints belong to the next import.
  const checkpoints = [...(work.trajectory?.checkpoints.abroad ?? [])];
  const finished = moment.isPacked ? yield* takePackedExport(work.sandbox.repository, bundlePath) : undefined;
  const exported = finished ?? (yield* exportNow(work, bundlePath, moment, checkpoints.at(-1)?.sha));
  return { ...exported, checkpoints };
});

/** A process in an isolated sandbox may continue to commit until the sandbox is closed. */
const MAX_LAST_EXPORTS = 4;

/** Updates the worktree's files to those of an isolated sandbox, unless the branch has other new commits. */
const takeFiles = (
  files: WorktreeFiles,
  { tip, uncommitted }: ImportedCommits,
  isBehind: boolean,
): Effect.Effect<string | undefined, SandduneError> => {
  if (!isBehind) return moveWorktreeFiles(files, uncommitted ?? tip);
  return Effect.succeed(
    uncommitted === undefined || uncommitted === files.current
      ? undefined
      : `The worktree ${files.worktreePath} has new commits that the sandbox does not have. The sandbox's uncommitted work is kept as ${uncommitted}.`,
  );
};

const importOnce = Effect.fnUntraced(function* (
  work: SandboxWork,
  bundlePath: string,
  moment: ImportMoment,
  attempt = 1,
): Effect.fn.Return<void, SandduneError> {
  const { session, sandbox } = work;
  const { progress, plan } = session;
  const { checkout, files } = sandbox;
  const { handle } = sandbox.repository;
  let archivePath: string | undefined;
  const exported = yield* exportWork(work, bundlePath, moment).pipe(
    Effect.tapError(() =>
      Effect.map(rescue(work, moment), (path) => {
        archivePath = path;
      }),
    ),
    Effect.mapError((error) => keptIn(work, error, archivePath)),
  );
  archivePath = yield* rescueUnexported(work, exported, moment);
  const endsNow = moment.isLast && (sandbox.endsWithCall || moment.closes === true);
  // If the git directory is on the host, `importLateWork` checks it when the sandbox has closed.
  const isChanged = endsNow && files !== undefined && !(yield* isStillExported(sandbox.repository, exported));
  // Only tested commits land: later ones are not put on the branch.
  const comesAgain = isChanged && attempt < MAX_LAST_EXPORTS && sandbox.environment === undefined;
  if (isChanged && !comesAgain) {
    progress.warn("A process in the sandbox kept changing its refs, so its last commits were not imported.");
    archivePath ??= yield* rescue(work, moment);
  }
  // Close the sandbox already while git works on the host. The scope waits for the same close.
  if (endsNow && sandbox.endsWithCall && !comesAgain) void handle.close().catch(() => undefined);
  yield* landExport(work, exported, moment).pipe(
    Effect.mapError((error) => keptIn(work, error, archivePath)),
  );
  if (comesAgain) {
    const again = { ...moment, isPacked: false };
    // The first import succeeded, so this is not a failure of the run.
    return yield* importOnce(work, `${bundlePath}.${attempt}`, again, attempt + 1).pipe(
      Effect.catch((error) =>
        Effect.sync(() => {
          keepEverything(work, error);
          progress.warn(error.message);
        }),
      ),
    );
  }
  if (exported.bundlePath !== undefined) yield* consolidatePacks(checkout.repository, plan.host.config);
});

/** Imports an export into the repository, and updates the branch, the index and the worktree's files. */
export const landExport = Effect.fnUntraced(function* (
  work: SandboxWork,
  exported: ArrivedWork,
  { isLast }: Pick<ImportMoment, "isLast">,
): Effect.fn.Return<void, SandduneError> {
  const { session, sandbox } = work;
  const { plan, progress } = session;
  const { checkout, files } = sandbox;
  // The branch may have new commits from elsewhere, and must not be moved back.
  const before = sandbox.tip;
  const isBehind = before !== checkout.tip;
  const { checkpoints } = exported;
  const imported = yield* importCommits(
    {
      cwd: checkout.repository.topLevel,
      runId: plan.runId,
      branch: checkout.branch,
      base: work.base,
      knownCommits: plan.host.refs.map(({ sha }) => sha),
      expectedTip: before,
      // An agent may rewrite a branch that was created for agents, but not the user's branch.
      allowsRewrite: checkout.branches.strategy !== "head",
      checkpoints,
      onKept: (kept) => progress.addKeptRefs(kept),
    },
    exported,
  );
  work.trajectory?.checkpoints.noteImported(checkpoints.length);
  // Commits that are on neither the branch nor a checkpoint are sent with every import, because stash names change.
  const held = imported.heads.filter((head) => checkpoints.some(({ sha }) => sha === head));
  sandbox.laterCommits = [...new Set([...sandbox.laterCommits, ...held, imported.tip])];
  progress.warn(...imported.warnings);
  if (imported.move !== undefined) {
    checkout.tip = imported.tip;
    sandbox.tip = imported.tip;
    const { buildsOnBase, changes } = imported.move;
    checkout.lastMove = buildsOnBase
      ? { from: work.base, to: imported.tip, files: changes.files }
      : undefined;
    yield* recordCommits(session, checkout, work.base, imported.move);
    for (const sha of progress.commits) sandbox.commits.add(sha);
  }
  if (isLast) yield* beginSummary(session);
  const problems = [
    yield* updateIndex(checkout),
    files && (yield* takeFiles(files, imported, isBehind)),
  ].filter((problem) => problem !== undefined);
  progress.warn(...problems);
  // The worktree's files now contain the uncommitted work, unless there was a problem.
  if (problems.length === 0) session.redundantRefs.add(uncommittedRef(plan.runId));
  else session.redundantRefs.delete(uncommittedRef(plan.runId));
  for (const path of [exported.bundlePath, exported.checkpointsPath]) {
    if (path !== undefined) rmSync(path, { force: true });
  }
});

/**
 * Imports the commits of the sandbox. Every end of a session goes through this step. If it fails, everything that was
 * not imported is kept, and the error says where.
 */
export const importWork = (work: SandboxWork, moment: ImportMoment): Effect.Effect<void, SandduneError> => {
  const { sandbox, session } = work;
  return Effect.suspend(() => {
    sandbox.hasNews = false;
    if (sandbox.isUnused()) return Effect.void;
    const bundlePath = join(session.journal.filesDirectory, `${moment.label}.bundle`);
    return importOnce(work, bundlePath, moment).pipe(
      Effect.onError((cause) =>
        Effect.sync(() => {
          const error = Cause.squash(cause);
          keepEverything(work, error);
          // The message of a refusal already says so.
          if (!(error instanceof ImportRefusedError)) session.progress.warn(...whereKept(sandbox));
        }),
      ),
    );
  });
};
