import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { runAtBoundary } from "../../boundary/boundary.ts";
import {
  CheckoutPlaceError,
  CheckpointNotFoundError,
  StepNotFoundError,
  TrajectoryNotFoundError,
} from "../../errors/commandErrors.ts";
import { resolveCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { writeFilesOf } from "../../git/snapshots/checkpointCheckout.ts";
import { changesOf, listCheckpoints, patchOf } from "../../git/snapshots/checkpointDiff.ts";
import { entryExists } from "../../tools/files/entries.ts";
import { trajectoryPath } from "../record/file.ts";
import { readEvaluations } from "./evaluations.ts";
import { type RecordedRun, readTrajectory } from "./readTrajectory.ts";
import { type RecordedStep, stepsOf } from "./steps.ts";

/** A recorded run with its steps, in its repository. */
export interface Replay {
  readonly repository: Repository;
  readonly runDirectory: string;
  readonly run: RecordedRun;
  readonly steps: readonly RecordedStep[];
}

/** Whether a run has a trajectory. */
export const isRecorded = ({ runDirectory }: { readonly runDirectory: string }): boolean =>
  existsSync(trajectoryPath(runDirectory));

/** Opens the trajectory of a run; throws if there is none. */
export const openReplay = async (
  repository: Repository,
  { runId, runDirectory }: { readonly runId: string; readonly runDirectory: string },
): Promise<Replay> => {
  const run = readTrajectory(runDirectory);
  if (run?.runId !== runId) throw new TrajectoryNotFoundError(runId);
  const cwd = repository.topLevel;
  const here = new Map((await listCheckpoints(cwd, runId)).map(({ number, sha }) => [number, sha]));
  // The file can name any commit: only commits with a ref of the run are shown.
  const shown = run.checkpoints.filter(({ number, sha }) => here.get(number) === sha);
  const changes = await changesOf(
    cwd,
    shown.map(({ sha }) => sha),
  );
  const isBaseHere = (await runAtBoundary(resolveCommit(cwd, run.base))) !== undefined;
  return {
    ...{ repository, runDirectory, run },
    steps: stepsOf(run, { changes, isBaseHere, evaluations: readEvaluations(runDirectory) }),
  };
};

export const findStep = ({ run, steps }: Replay, number: number): RecordedStep => {
  const step = steps[number];
  if (step === undefined) throw new StepNotFoundError(run.runId, number, steps.length - 1);
  return step;
};

/** The changes of a step as a patch; empty if it changed no files, or its commit does not exist here. */
export const patchOfStep = async ({ repository }: Replay, step: RecordedStep): Promise<string> =>
  step.change === "changed" && step.isHere ? patchOf(repository.topLevel, step.commit) : "";

/** The default directory, which is removed with the run. A cloned repository may contain a link in its place. */
const ownPlace = ({ runDirectory }: Replay, number: number): string => {
  const parent = join(runDirectory, "checkouts");
  if (lstatSync(parent, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new CheckoutPlaceError(parent, "it is a symbolic link");
  return join(parent, String(number));
};

const makeDirectory = (path: string): void => {
  const isThere = entryExists(path);
  if (isThere) throw new CheckoutPlaceError(path, "it exists already");
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(path);
};

/** Writes the files as they were after a step to a new directory, and resolves with its path. */
export const checkOutStep = async (replay: Replay, number: number, directory?: string): Promise<string> => {
  const { commit, isHere } = findStep(replay, number);
  if (!isHere) throw new CheckpointNotFoundError(replay.run.runId, number, commit);
  const path = resolve(directory ?? ownPlace(replay, number));
  try {
    makeDirectory(path);
  } catch (error) {
    if (error instanceof CheckoutPlaceError) throw error;
    throw new CheckoutPlaceError(path, (error as Error).message, { cause: error });
  }
  await runAtBoundary(writeFilesOf(replay.repository, commit, path));
  return path;
};
