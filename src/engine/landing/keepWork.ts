import { existsSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { ImportRefusedError, SandboxLostError, type SandduneError } from "../../errors.ts";
import { keptBundles } from "../../git/transfer/bundle/keptBundles.ts";
import { archiveSandboxFiles } from "../../git/transfer/export/archiveSandboxFiles.ts";
import type { SandboxExport } from "../../git/transfer/export/fetchBundles.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import type { ImportMoment, SandboxWork } from "./importWork.ts";

/** Archives the files of an isolated sandbox before it is closed. Succeeds with the path of the archive. */
export const rescue = (
  { session, sandbox }: SandboxWork,
  { label }: ImportMoment,
): Effect.Effect<string | undefined> => {
  const { journal, progress } = session;
  if (sandbox.files === undefined) return Effect.succeed(undefined);
  const firstPath = join(journal.runDirectory, "rescue.tar");
  // An existing archive may be the only copy of other work.
  const archivePath = existsSync(firstPath) ? join(journal.runDirectory, `rescue-${label}.tar`) : firstPath;
  return archiveSandboxFiles(sandbox.repository, archivePath).pipe(
    Effect.map((rescued) => {
      if (!rescued) {
        progress.warn("The files of the sandbox could not be kept.");
        return undefined;
      }
      journal.tell({
        type: "kept",
        what: "archive",
        name: archivePath,
        reason: "it has the sandbox's files",
      });
      progress.warn(`The readable files of the sandbox are kept in ${archivePath}.`);
      return archivePath;
    }),
  );
};

/** Reports what could not be exported from an isolated sandbox, and archives its files. */
export const rescueUnexported = Effect.fnUntraced(function* (
  work: SandboxWork,
  { leftBehind, hasUnreadRefs, source }: SandboxExport,
  moment: ImportMoment,
): Effect.fn.Return<string | undefined> {
  if (work.sandbox.files === undefined) return undefined;
  const { progress } = work.session;
  if (leftBehind.length > 0)
    progress.warn(`Uncommitted work could not be exported as files: ${leftBehind.join(", ")}.`);
  if (hasUnreadRefs)
    progress.warn("Some refs of the sandbox could not be read, and their commits were not exported.");
  if (leftBehind.length === 0 && !hasUnreadRefs && source !== "broken") return undefined;
  return yield* rescue(work, moment);
});

/** The command that imports from a kept git directory. */
const rescueCommand = ({ owner }: SandboxSession): string => sandduneCommand("rescue", owner.plan.runId);

/** Where the commits of a bind-mount sandbox are kept if they were not imported. */
export const whereKept = (sandbox: SandboxSession): string[] => {
  const { hostGitDirectory } = sandbox.repository;
  return hostGitDirectory === undefined
    ? []
    : [
        `The git directory of the sandbox is kept at ${hostGitDirectory}. To import from it: ${rescueCommand(sandbox)}`,
      ];
};

/** Adds to a refusal where the work is kept. */
export const keptIn = ({ sandbox }: SandboxWork, error: SandduneError, archivePath: string | undefined) => {
  if (!(error instanceof ImportRefusedError)) return error;
  const { hostGitDirectory: gitDirectory } = sandbox.repository;
  const rescueRunId = gitDirectory === undefined ? undefined : sandbox.owner.plan.runId;
  return error.keptIn({ gitDirectory, archivePath, rescueRunId });
};

/** Keeps what could not be imported: the bundle, and the git directory of the sandbox. */
export const keepFiles = ({ session, sandbox }: SandboxWork, reason: string): void => {
  for (const keeper of [session, sandbox.owner]) keeper.keepsFiles = true;
  for (const journal of new Set([session.journal, sandbox.owner.journal])) {
    journal.tell({ type: "kept", what: "git directory", name: journal.filesDirectory, reason });
  }
};

/** Keeps the worktree too. The work of a lost isolated sandbox is in the sandbox, if that still exists. */
export const keepEverything = (work: SandboxWork, cause: unknown): void => {
  const { session, sandbox } = work;
  sandbox.checkout.keepReasons.add("the agent's commits could not be imported");
  if (cause instanceof SandboxLostError && sandbox.files !== undefined) {
    sandbox.loss.mayHoldWork = true;
    if (keptBundles(session.journal.filesDirectory).length === 0) return;
  }
  keepFiles(work, String(cause));
};
