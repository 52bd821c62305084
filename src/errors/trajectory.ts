import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";

/** A run was not recorded, or its trajectory was deleted. */
export class TrajectoryNotFoundError extends SandduneError {
  constructor(readonly recordedRunId: string) {
    super(`Run ${recordedRunId} has no trajectory. To record one: ${sandduneCommand("run", "--trajectory")}`);
  }
}

/** A recorded run has no such step. */
export class StepNotFoundError extends SandduneError {
  constructor(
    readonly recordedRunId: string,
    readonly step: number,
    readonly lastStep: number,
  ) {
    super(
      `Run ${recordedRunId} has no step ${step}: its steps are 0 to ${lastStep}. See: ${sandduneCommand("replay", recordedRunId)}`,
    );
  }
}

/** The files after a step of a recorded run are not in the repository. */
export class CheckpointNotFoundError extends SandduneError {
  constructor(
    readonly recordedRunId: string,
    readonly step: number,
    readonly sha: string,
  ) {
    super(
      `The commit ${sha}, which had the files after step ${step} of run ${recordedRunId}, is not in this repository: it was never imported, or it was deleted. Choose another step: ${sandduneCommand("replay", recordedRunId)}`,
    );
  }
}

/** The files of a checkpoint cannot be written to that directory. */
export class CheckoutPlaceError extends SandduneError {
  constructor(
    readonly directory: string,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(
      `${directory}: ${problem}. Nothing was changed there. Name a directory that does not exist: --to DIR`,
      options,
    );
  }
}

/** The page of a recorded run cannot be written to that path. */
export class ReplayPageError extends SandduneError {
  constructor(
    readonly path: string,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(
      `The page ${path} was not written, and nothing was changed: ${problem}. Name another file: --html FILE`,
      options,
    );
  }
}
