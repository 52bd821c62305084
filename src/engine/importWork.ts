import { rmSync } from "node:fs";
import { join } from "node:path";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { SandboxLostError, type SandduneError } from "../errors.ts";
import { exportFromSandbox, type SandboxRepository, takeFinishedExport } from "../git/exportFromSandbox.ts";
import { importCommits } from "../git/importCommits.ts";
import { inspectChanges, listOwnCommits } from "../git/ownCommits.ts";
import { rescueFiles } from "../git/rescueFiles.ts";
import { uncommittedRef } from "../git/runRefs.ts";
import type { Checkout } from "../git/sandboxGitDirectory.ts";
import { moveWorktreeFiles } from "../git/worktreeFiles.ts";
import { followBranch } from "./followBranch.ts";
import type { RunContext } from "./runContext.ts";
import type { SandboxSession } from "./sandboxSession.ts";

export interface WorkImport {
  readonly context: RunContext;
  readonly checkout: Checkout;
  readonly session: SandboxSession;
  /** The tips of all refs of the host when the run began. */
  readonly knownCommits: readonly string[];
}

/** When an import happens. */
export interface ImportMoment {
  /** Names the files of this import. */
  readonly label: string;
  /** The agent failed, or the run was aborted. */
  readonly failed: boolean;
  /** Nothing more will be wanted of the sandbox. */
  readonly isLast: boolean;
}

/**
 * Who has aborted a run is waiting, and an agent that had to be stopped may have left a repository that git hangs in.
 * Where the files are on the host anyway, they are kept instead.
 */
const EXPORT_TIMEOUT_MS = { afterSuccess: 10 * 60_000, afterFailure: 20_000 } as const;

/** Exports from the run's sandbox or, if that was lost while its files were not, from a new one over the same files. */
const exportNow = (work: WorkImport, bundlePath: string, { failed }: ImportMoment) => {
  const filesAreOnHost = work.session.files === undefined;
  const request = {
    sourceBranch: work.checkout.branch,
    knownCommits: work.session.sharedCommits,
    timeoutMs: failed && filesAreOnHost ? EXPORT_TIMEOUT_MS.afterFailure : EXPORT_TIMEOUT_MS.afterSuccess,
  };
  const from = (repository: SandboxRepository) => exportFromSandbox(repository, request, bundlePath);
  const { repository, reopen } = work.session;
  return from(repository).pipe(
    Effect.catchIf(
      (error) => error instanceof SandboxLostError && reopen !== undefined,
      (lost) => (reopen === undefined ? Effect.fail(lost) : Effect.scoped(Effect.flatMap(reopen, from))),
    ),
  );
};

/** The agent's command has packed its commits when it was over, unless it was killed before. */
const exportWork = (work: WorkImport, bundlePath: string, moment: ImportMoment) =>
  takeFinishedExport(work.session.repository, bundlePath).pipe(
    Effect.flatMap((finished) =>
      finished === undefined ? exportNow(work, bundlePath, moment) : Effect.succeed(finished),
    ),
  );

/** Keeps all files of a sandbox that has no others, as an archive, before it is closed. */
const rescue = ({ context, session }: WorkImport): Effect.Effect<void> => {
  if (session.files === undefined) return Effect.void;
  const archivePath = join(context.journal.runDirectory, "rescue.tar");
  return rescueFiles(session.repository, archivePath).pipe(
    Effect.map((rescued) => {
      if (!rescued) {
        context.progress.warn("The files of the sandbox could not be kept.");
        return;
      }
      context.journal.tell({
        type: "kept",
        what: "archive",
        name: archivePath,
        reason: "it holds the sandbox's files",
      });
      context.progress.warn(
        `The files of the sandbox, as far as they could be read, are kept in ${archivePath}.`,
      );
    }),
  );
};

const listedCommits = (work: WorkImport, tip: string) => {
  const { plan } = work.context;
  const cwd = plan.repository.topLevel;
  return Effect.all(
    [listOwnCommits(cwd, tip, work.knownCommits), inspectChanges(cwd, work.checkout.sha, tip)],
    { concurrency: "unbounded" },
  );
};

const importOnce = Effect.fnUntraced(function* (
  work: WorkImport,
  bundlePath: string,
  moment: ImportMoment,
): Effect.fn.Return<void, SandduneError> {
  const { context, checkout } = work;
  const { plan, progress } = context;
  const { files } = work.session;
  const exported = yield* exportWork(work, bundlePath, moment).pipe(Effect.tapError(() => rescue(work)));
  if (exported.leftBehind.length > 0) {
    progress.warn(`Uncommitted work could not be brought home as files: ${exported.leftBehind.join(", ")}.`);
    yield* rescue(work);
  }
  // Nothing more is wanted of the sandbox. Closing it takes a while, and can go on while git works on the host; the
  // scope waits for the same close.
  if (moment.isLast) void work.session.repository.handle.close().catch(() => undefined);
  const before = context.tip;
  const imported = yield* importCommits(
    {
      cwd: plan.repository.topLevel,
      runId: plan.runId,
      branch: checkout.branch,
      base: checkout.sha,
      expectedTip: before,
      // The user's own branch is not the agent's to rewrite; a branch that was made for agents is.
      allowsRewrite: plan.branches.strategy !== "head",
    },
    exported,
  );
  context.tip = imported.tip;
  progress.warn(...imported.warnings);
  if (imported.tip !== before) {
    const [commits, changes] = yield* listedCommits(work, imported.tip);
    progress.commits = commits;
    for (const path of changes.protectedPaths) progress.protectedPaths.add(path);
    context.newSubmodules = changes.newSubmodules;
  }
  const problems = [
    yield* followBranch(context, checkout),
    files && (yield* moveWorktreeFiles(files, imported.uncommitted ?? imported.tip)),
  ].filter((problem) => problem !== undefined);
  progress.warn(...problems);
  // The worktree's files hold the uncommitted work now, unless something was in the way.
  if (problems.length === 0) context.redundantRefs.add(uncommittedRef(plan.runId));
  else context.redundantRefs.delete(uncommittedRef(plan.runId));
  if (exported.bundlePath !== undefined) rmSync(exported.bundlePath, { force: true });
});

/**
 * Brings what the agent committed to the host: the one step that every way out of a run goes through. When it fails,
 * everything it could not bring home stays where it is, and the error says where that is.
 */
export const importWork = (work: WorkImport, moment: ImportMoment): Effect.Effect<void, SandduneError> => {
  const { context } = work;
  const { filesDirectory } = context.journal;
  const importAll = importOnce(work, join(filesDirectory, `${moment.label}.bundle`), moment).pipe(
    Effect.onError((cause) =>
      Effect.sync(() => {
        context.keepsRunFiles = true;
        context.keepWorktreeReason ??= "the agent's commits could not be taken over";
        context.journal.tell({
          type: "kept",
          what: "git directory",
          name: filesDirectory,
          reason: String(Cause.squash(cause)),
        });
      }),
    ),
  );
  return Effect.suspend(() => (work.session.isUnused() ? Effect.void : importAll));
};
