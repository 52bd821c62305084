import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { SandboxLostError, type SandduneError } from "../errors.ts";
import { exportFromSandbox, type SandboxRepository, takeFinishedExport } from "../git/exportFromSandbox.ts";
import { type ImportedCommits, importCommits } from "../git/importCommits.ts";
import { rescueFiles } from "../git/rescueFiles.ts";
import { uncommittedRef } from "../git/runRefs.ts";
import { moveWorktreeFiles, type WorktreeFiles } from "../git/worktreeFiles.ts";
import { followBranch } from "./followBranch.ts";
import { noteCommits } from "./noteCommits.ts";
import type { SandboxSession } from "./sandboxSession.ts";
import type { Session } from "./session.ts";
import type { Trajectory } from "./trajectory.ts";

/** Work in a sandbox, on behalf of a session. */
export interface SandboxWork {
  readonly session: Session;
  readonly sandbox: SandboxSession;
  /** The commit that the session began with. */
  readonly base: string;
  /** The trajectory of the run, if it is recorded. */
  readonly trajectory?: Trajectory | undefined;
}

/** When an import happens. */
export interface ImportMoment {
  /** Names the files of this import. */
  readonly label: string;
  /** The agent failed, or the session was aborted. */
  readonly failed: boolean;
  /** The session wants nothing more of the sandbox. */
  readonly isLast: boolean;
  /** The command that has just ended packs its commits itself, unless it was killed before. */
  readonly isPacked: boolean;
}

/**
 * Who has aborted a run is waiting, and an agent that had to be stopped may have left a repository that git hangs in.
 * Where the files are on the host anyway, they are kept instead.
 */
const EXPORT_TIMEOUT_MS = { afterSuccess: 10 * 60_000, afterFailure: 20_000 } as const;

/** Exports from the sandbox or, if that was lost while its files were not, from a new one over the same files. */
const exportNow = ({ sandbox, trajectory }: SandboxWork, bundlePath: string, { failed }: ImportMoment) => {
  const { repository, reopen } = sandbox;
  const filesAreOnHost = sandbox.files === undefined;
  const request = {
    sourceBranch: sandbox.checkout.branch,
    knownCommits: [...sandbox.sharedCommits, ...sandbox.laterCommits],
    breaksLocks: failed,
    checkpoint: trajectory?.checkpoints.abroad.at(-1)?.sha,
    timeoutMs: failed && filesAreOnHost ? EXPORT_TIMEOUT_MS.afterFailure : EXPORT_TIMEOUT_MS.afterSuccess,
  };
  const from = (source: SandboxRepository) => exportFromSandbox(source, request, bundlePath);
  return from(repository).pipe(
    Effect.catchIf(
      (error) => error instanceof SandboxLostError && reopen !== undefined,
      (lost) => (reopen === undefined ? Effect.fail(lost) : Effect.scoped(Effect.flatMap(reopen, from))),
    ),
  );
};

const exportWork = (work: SandboxWork, bundlePath: string, moment: ImportMoment) =>
  (moment.isPacked
    ? takeFinishedExport(work.sandbox.repository, bundlePath)
    : Effect.succeed(undefined)
  ).pipe(
    Effect.flatMap((finished) =>
      finished === undefined ? exportNow(work, bundlePath, moment) : Effect.succeed(finished),
    ),
  );

/** Keeps all files of a sandbox that has no others, as an archive, before it is closed. */
const rescue = ({ session, sandbox }: SandboxWork, { label }: ImportMoment): Effect.Effect<void> => {
  const { journal, progress } = session;
  if (sandbox.files === undefined) return Effect.void;
  const firstPath = join(journal.runDirectory, "rescue.tar");
  // One that is there holds something that is nowhere else.
  const archivePath = existsSync(firstPath) ? join(journal.runDirectory, `rescue-${label}.tar`) : firstPath;
  return rescueFiles(sandbox.repository, archivePath).pipe(
    Effect.map((rescued) => {
      if (!rescued) {
        progress.warn("The files of the sandbox could not be kept.");
        return;
      }
      journal.tell({
        type: "kept",
        what: "archive",
        name: archivePath,
        reason: "it holds the sandbox's files",
      });
      progress.warn(`The files of the sandbox, as far as they could be read, are kept in ${archivePath}.`);
    }),
  );
};

/** Brings the worktree's files to the state of an isolated sandbox, if they have not gone on without it. */
const takeFiles = (
  files: WorktreeFiles,
  { tip, uncommitted }: ImportedCommits,
  isBehind: boolean,
): Effect.Effect<string | undefined, SandduneError> => {
  if (!isBehind) return moveWorktreeFiles(files, uncommitted ?? tip);
  return Effect.succeed(
    uncommitted === undefined || uncommitted === files.current
      ? undefined
      : `The worktree ${files.worktreePath} has gone on without the sandbox. Uncommitted work of the sandbox is kept as ${uncommitted}.`,
  );
};

const importOnce = Effect.fnUntraced(function* (
  work: SandboxWork,
  bundlePath: string,
  moment: ImportMoment,
): Effect.fn.Return<void, SandduneError> {
  const { session, sandbox } = work;
  const { plan, progress } = session;
  const { checkout, files } = sandbox;
  const exported = yield* exportWork(work, bundlePath, moment).pipe(
    Effect.tapError(() => rescue(work, moment)),
  );
  if (exported.leftBehind.length > 0) {
    progress.warn(`Uncommitted work could not be brought home as files: ${exported.leftBehind.join(", ")}.`);
    yield* rescue(work, moment);
  }
  // Nothing more is wanted of the sandbox. Closing it takes a while, and can go on while git works on the host; the
  // scope waits for the same close.
  if (moment.isLast && sandbox.endsWithCall) void sandbox.repository.handle.close().catch(() => undefined);
  // Where the sandbox was when the host last knew: the branch may have moved on without it, and must not be taken back.
  const before = sandbox.tip;
  const isBehind = before !== checkout.tip;
  const checkpoints = work.trajectory?.checkpoints.takeHome() ?? [];
  const imported = yield* importCommits(
    {
      cwd: checkout.repository.topLevel,
      runId: plan.runId,
      branch: checkout.branch,
      base: work.base,
      expectedTip: before,
      // The user's own branch is not the agent's to rewrite; a branch that was made for agents is.
      allowsRewrite: checkout.branches.strategy !== "head",
      checkpoints,
    },
    exported,
  );
  sandbox.laterCommits = [...new Set([...sandbox.laterCommits, ...imported.heads, imported.tip])];
  progress.warn(...imported.warnings);
  if (imported.tip !== before) {
    checkout.tip = imported.tip;
    sandbox.tip = imported.tip;
    yield* noteCommits(session, checkout, work.base);
  }
  const problems = [
    yield* followBranch(checkout),
    files && (yield* takeFiles(files, imported, isBehind)),
  ].filter((problem) => problem !== undefined);
  progress.warn(...problems);
  // The worktree's files hold the uncommitted work now, unless something was in the way.
  if (problems.length === 0) session.redundantRefs.add(uncommittedRef(plan.runId));
  else session.redundantRefs.delete(uncommittedRef(plan.runId));
  for (const path of [exported.bundlePath, exported.checkpointsPath]) {
    if (path !== undefined) rmSync(path, { force: true });
  }
});

/** What could not be brought home stays where it is: the bundle, and the git directory of the sandbox. */
const keepEverything = ({ session, sandbox }: SandboxWork, reason: string): void => {
  sandbox.checkout.keepReasons.add("the agent's commits could not be taken over");
  for (const keeper of [session, sandbox.owner]) keeper.keepsFiles = true;
  for (const journal of new Set([session.journal, sandbox.owner.journal])) {
    journal.tell({ type: "kept", what: "git directory", name: journal.filesDirectory, reason });
  }
};

/**
 * Brings what was committed in the sandbox to the host: the one step that every way out of a session goes through. When
 * it fails, everything it could not bring home stays where it is, and the error says where that is.
 */
export const importWork = (work: SandboxWork, moment: ImportMoment): Effect.Effect<void, SandduneError> => {
  const { sandbox, session } = work;
  return Effect.suspend(() => {
    sandbox.hasNews = false;
    if (sandbox.isUnused()) return Effect.void;
    const bundlePath = join(session.journal.filesDirectory, `${moment.label}.bundle`);
    return importOnce(work, bundlePath, moment).pipe(
      Effect.onError((cause) => Effect.sync(() => keepEverything(work, String(Cause.squash(cause))))),
    );
  });
};
