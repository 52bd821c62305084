import { lstatSync } from "node:fs";
import { join } from "node:path";
import { type FoundOverlay, listOverlays } from "../git/overlay/overlayRun.ts";
import type { Repository } from "../git/repository.ts";
import { configDirectoryPart } from "../options/configDirectory.ts";
import { isRunning } from "../process/kill/processIdentity.ts";
import { isRunId } from "./journal/runId.ts";
import { readRun, type StoredRun } from "./storedRun.ts";

const runDirectoryOf = ({ configDirectory, runId }: FoundOverlay): string =>
  join(configDirectoryPart(configDirectory, "runs"), runId);

/** Whether the journal of a run can be read. One that belongs to another user counts. */
const hasJournal = (overlay: FoundOverlay): boolean => {
  try {
    return readRun(runDirectoryOf(overlay)) !== undefined;
  } catch {
    return true;
  }
};

/** The overlays whose runs have no journal any more: the user has deleted it, or a power cut has emptied it. */
const withoutJournal = (repository: Repository): FoundOverlay[] =>
  listOverlays(repository).filter((overlay) => isRunId(overlay.runId) && !hasJournal(overlay));

/** The sandboxes that the run may have made: the journal would name them. */
const sandboxesOf = ({ runId }: FoundOverlay): StoredRun["owns"] =>
  ["", "-recovery", "-tests"].map((suffix) => ({ what: "sandbox", name: `sanddune-${runId}${suffix}` }));

const orphanOf = (repository: Repository, overlay: FoundOverlay): StoredRun[] => {
  const { runId, directory, run } = overlay;
  if (run === undefined) return [];
  const { branch, commit, strategy, sandbox, owner } = run;
  return [
    {
      runId,
      // Whatever is left of it, or is made, is in the checkout whose worktree the files are written to.
      runDirectory: join(configDirectoryPart(repository.configDirectory, "runs"), runId),
      state: isRunning(owner) ? "running" : "dead",
      kind: "run",
      within: undefined,
      name: undefined,
      agent: undefined,
      sandbox,
      strategy,
      branch,
      targetBranch: undefined,
      owner,
      begunAt: lstatSync(directory).birthtime,
      endedAt: undefined,
      iterations: 0,
      usage: undefined,
      commits: [],
      solved: undefined,
      problem: undefined,
      logFilePath: undefined,
      temporaryDirectory: undefined,
      owns: sandboxesOf(overlay),
      work: { checkoutPath: directory, branch, tip: commit, isIsolated: false, nestedRepositories: [] },
      unfinishedWorktree: undefined,
      isUnfinishedCopy: false,
      recovery: undefined,
      isCleaned: false,
    },
  ];
};

/** The runs whose journals are gone, but whose overlays may still hold work, as runs. */
export const listOrphans = (repository: Repository): StoredRun[] =>
  withoutJournal(repository).flatMap((overlay) => orphanOf(repository, overlay));

/** The overlays of which not even the record can be read: nothing says which branch their work belongs to. */
export const unknownOverlays = (repository: Repository): FoundOverlay[] =>
  withoutJournal(repository).filter(({ run }) => run === undefined);
