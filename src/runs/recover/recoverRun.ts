import { existsSync } from "node:fs";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { gitText } from "../../git/git.ts";
import { hasUnimportedCommits } from "../../git/recovery/unimportedCommits.ts";
import type { Repository } from "../../git/repository.ts";
import { sandboxDirectories } from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { counted } from "../../tools/counted.ts";
import { runFilesDirectory } from "../journal/runDirectory.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import { readRun, type StoredRun } from "../storedRun.ts";
import { writeOutDeadOverlay } from "./deadOverlay.ts";
import { type DeadWork, findDeadWork, importDeadWork } from "./deadWork.ts";
import { endSurvivors } from "./endSurvivors.ts";
import { cameWithRepository } from "./leftSandbox.ts";
import type { Recovery } from "./recovery.ts";
import { settleCheckout } from "./settleCheckout.ts";

export interface RecoverOptions {
  /** The user confirms that the sandbox is gone, so it is not looked for. */
  readonly sandboxIsGone?: boolean;
  /** Do not import the commits from the sandbox. */
  readonly leavesCommits?: boolean;
}

interface Recovered {
  readonly told: readonly string[];
  readonly commits: number;
  readonly kept?: string | undefined;
}

/** Imports the commits, disarms the agent's repositories, and updates the index. */
const recoverWork = Effect.fnUntraced(function* (
  repository: Repository,
  work: DeadWork,
  leavesCommits: boolean,
): Effect.fn.Return<Recovered, SandduneError> {
  const { run, branch = "HEAD", gitDirectory } = work;
  const imported = leavesCommits ? undefined : yield* importDeadWork(repository, work);
  const { before, tip, warnings = [], problem } = imported ?? {};
  const settled = yield* settleCheckout(repository, work, { before, tip });
  const range = before === undefined || tip === undefined || before === tip ? undefined : `${before}..${tip}`;
  const commits =
    range === undefined
      ? 0
      : Number(yield* gitText(["rev-list", "--count", range], { cwd: repository.topLevel }));
  return {
    commits,
    told: [
      ...(range === undefined
        ? []
        : [`Imported ${counted(commits, "commit")} of run ${run.runId}, which had died, onto ${branch}.`]),
      ...warnings,
      ...settled,
    ],
    kept:
      problem &&
      `Not everything that was committed in the sandbox of run ${run.runId} could be imported: ${problem}. It is kept in ${gitDirectory}. To try again: ${sandduneCommand("rescue", run.runId)}`,
  };
});

const outOfReachSentence = ({ runId }: StoredRun, outOfReach: string | undefined): string | undefined =>
  outOfReach && `Run ${runId} died, and ${outOfReach}. It cannot be imported from there.`;

const NOT_WANTED =
  "What was committed in its sandbox was not imported, because its branch was to be removed.";

const UNWRITTEN = "The files of its overlay could not be written to its worktree.";

/** Commits cannot be imported without the commit that they build on. */
const baselessWork = Effect.fnUntraced(function* (
  repository: Repository,
  { runId, runDirectory }: StoredRun,
): Effect.fn.Return<string | undefined, SandduneError> {
  const { git: gitDirectory } = sandboxDirectories(runFilesDirectory(runDirectory));
  if (!existsSync(gitDirectory) || !(yield* hasUnimportedCommits(repository, gitDirectory))) return undefined;
  return `The commit that run ${runId} started from no longer exists, so nothing could be imported. The git directory of its sandbox is kept at ${gitDirectory}.`;
});

/**
 * Recovers a run that has ended: ends everything that may still be running, and verifies that; imports the commits from the
 * sandbox; disarms the repositories that the agent created in the checkout. The caller holds the lock of the run's branch.
 * Does nothing for a run that was recovered before.
 */
export const recoverRun = Effect.fnUntraced(function* (
  repository: Repository,
  runs: readonly StoredRun[],
  found: StoredRun,
  { sandboxIsGone = false, leavesCommits = false }: RecoverOptions = {},
): Effect.fn.Return<Recovery, SandduneError> {
  // Another process may have recovered it before the lock was free.
  const run = readRun(found.runDirectory) ?? found;
  const { runId, branch, runDirectory } = run;
  const nothing: Recovery = { runId, told: [], branch, commits: 0, kept: undefined };
  if (run.state === "running") return nothing;
  if (yield* cameWithRepository(repository, run)) {
    const kept = `The journal of run ${runId} is tracked by git, so any commit may have written it. It was ignored.`;
    return { ...nothing, kept };
  }
  const { told, outOfReach } = yield* endSurvivors(repository, run, { sandboxIsGone });
  if (run.recovery !== undefined && run.recovery.reason === undefined) return { ...nothing, told };
  // The commits are imported in any case. Nothing else may use the worktree as long as it lacks the files.
  const writing = yield* Effect.exit(writeOutDeadOverlay(repository, run));
  const work = yield* findDeadWork(repository, runs, run);
  const recovered: Recovered =
    work === undefined
      ? { told: [], commits: 0, kept: yield* baselessWork(repository, run) }
      : yield* recoverWork(repository, work, leavesCommits);
  const kept = [recovered.kept, outOfReachSentence(run, outOfReach)].filter((reason) => reason !== undefined);
  const reason = kept.length === 0 ? undefined : kept.join(" ");
  // The user may want them later.
  const left = leavesCommits && work?.gitDirectory !== undefined ? NOT_WANTED : undefined;
  const noted = reason ?? left;
  const missing = noted ?? (writing._tag === "Failure" ? UNWRITTEN : undefined);
  amendJournal(runDirectory, { type: "recovered", ...(missing !== undefined && { reason: missing }) });
  const written = yield* writing;
  return {
    ...nothing,
    told: [...told, ...written, ...recovered.told],
    commits: recovered.commits,
    kept: reason,
  };
});
