import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";
import { sentence, sentences } from "./text.ts";

/** `.sanddune/config.json` cannot be used. */
export class ProjectConfigError extends SandduneError {
  constructor(
    readonly path: string,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(sentences(sentence(`${path}: ${problem}`), "Mend or remove it."), options);
  }
}

/** No run of this repository has worked on the branch. */
export class NoRunOnBranchError extends SandduneError {
  constructor(override readonly branch: string) {
    super(
      `No run has worked on the branch ${JSON.stringify(branch)}. See: ${sandduneCommand("ps", "--all")}`,
    );
  }
}

/** A command was to take the latest run, and there is none that it could take. */
export class NoRunError extends SandduneError {}

/** No run of this repository, or more than one, is called that. */
export class RunNotFoundError extends SandduneError {
  constructor(
    readonly wanted: string,
    /** The ids of those that could be meant. */
    readonly candidates: readonly string[],
  ) {
    super(
      candidates.length === 0
        ? `There is no run ${JSON.stringify(wanted)} in this repository. See: ${sandduneCommand("ps", "--all")}`
        : `${JSON.stringify(wanted)} could be ${candidates.join(", ")}. Name one of these.`,
    );
  }
}

/** Somebody has changed files in a worktree that was to be removed because it was clean. */
export class WorktreeNotCleanError extends SandduneError {
  constructor(readonly path: string) {
    super(`${path} holds changes that are not committed: it was left alone.`);
  }
}

/** What was to be removed belongs to a run that is at work. */
export class RunStillRunningError extends SandduneError {
  constructor(readonly runningRunId: string) {
    super(`Run ${runningRunId} is running. To stop it: ${sandduneCommand("stop", runningRunId)}`);
  }
}

/** There is no run log to show. */
export class RunLogNotFoundError extends SandduneError {
  constructor(
    readonly loggedRunId: string,
    /** Where it should be; not set if the journal names none that belongs to the run. */
    readonly path: string | undefined,
  ) {
    super(
      path === undefined
        ? `Run ${loggedRunId} has no run log: its journal names no file that belongs to it.`
        : `The run log of ${loggedRunId} is not there any more: ${path}`,
    );
  }
}

/** A run was asked to stop, and has not come to an end. */
export class RunNotStoppedError extends SandduneError {
  constructor(
    readonly runningRunId: string,
    readonly owner: { readonly pid: number; readonly host: string },
    readonly timeoutMs: number,
    /** Whether the number of the process means the same here. */
    isHere: boolean,
  ) {
    super(
      `Run ${runningRunId} was asked to stop, and is still running after ${timeoutMs / 1000} s. It belongs to process ${owner.pid} on ${owner.host}. ${isHere ? `To end that process, with everything that it does: kill ${owner.pid}` : "That process has to be ended where it runs"}. Then: ${sandduneCommand("clean")}`,
    );
  }
}
