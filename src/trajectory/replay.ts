import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  CheckoutPlaceError,
  CheckpointNotFoundError,
  StepNotFoundError,
  TrajectoryNotFoundError,
} from "../commandErrors.ts";
import { writeFilesOf } from "../git/checkpointCheckout.ts";
import { changesOf, listCheckpoints, patchOf } from "../git/checkpointDiff.ts";
import type { Repository } from "../git/repository.ts";
import { runAtBoundary } from "../process/boundary.ts";
import { readEvaluations } from "./evaluations.ts";
import { type RecordedRun, readTrajectory } from "./readTrajectory.ts";
import { type Step, stepsOf } from "./steps.ts";

/** A recorded run, with everything that the repository has of it. */
export interface Replay {
  readonly repository: Repository;
  readonly runDirectory: string;
  readonly run: RecordedRun;
  readonly steps: readonly Step[];
}

/** Opens the trajectory of a run; throws if there is none. */
export const openReplay = async (
  repository: Repository,
  { runId, runDirectory }: { readonly runId: string; readonly runDirectory: string },
): Promise<Replay> => {
  const run = readTrajectory(runDirectory);
  if (run?.runId !== runId) throw new TrajectoryNotFoundError(runId);
  const cwd = repository.topLevel;
  const here = new Map(
    (await runAtBoundary(listCheckpoints(cwd, runId))).map(({ number, sha }) => [number, sha]),
  );
  // A file can name any commit: one that no ref of the run's stands for is not shown as the run's.
  const shown = run.checkpoints.filter(({ number, sha }) => here.get(number) === sha);
  const changes = await runAtBoundary(
    changesOf(
      cwd,
      shown.map(({ sha }) => sha),
    ),
  );
  return {
    ...{ repository, runDirectory, run },
    steps: stepsOf(run, { changes, evaluations: readEvaluations(runDirectory) }),
  };
};

export const findStep = ({ run, steps }: Replay, number: number): Step => {
  const step = steps[number];
  if (step === undefined) throw new StepNotFoundError(run.runId, number, steps.length - 1);
  return step;
};

/** What a step has changed, as a patch; nothing if it has changed no files, or they are not here. */
export const patchOfStep = async ({ repository }: Replay, step: Step): Promise<string> =>
  step.change === "changed" && step.isHere ? runAtBoundary(patchOf(repository.topLevel, step.commit)) : "";

/** Writes the files as they were after a step into a new directory, and gives its path. */
export const checkOutStep = async (replay: Replay, number: number, directory: string): Promise<string> => {
  const { commit, isHere } = findStep(replay, number);
  if (!isHere) throw new CheckpointNotFoundError(replay.run.runId, number, commit);
  const path = resolve(directory);
  if (existsSync(path)) throw new CheckoutPlaceError(path, "it exists already");
  await runAtBoundary(writeFilesOf(replay.repository, commit, path));
  return path;
};
