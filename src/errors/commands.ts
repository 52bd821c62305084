import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";
import { nextCommands, sentence, sentences } from "./text.ts";

/** `.sanddune/config.json` cannot be used. */
export class ProjectConfigError extends SandduneError {
  constructor(
    readonly path: string,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(sentences(sentence(`${path}: ${problem}`), "Fix or remove it."), options);
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

/** A command needs the latest run, and there is no run. */
export class NoRunError extends SandduneError {}

/** No run of this repository has that id, or several ids begin with it. */
export class RunNotFoundError extends SandduneError {
  constructor(
    readonly wanted: string,
    /** The ids that match. */
    readonly candidates: readonly string[],
  ) {
    super(
      candidates.length === 0
        ? `There is no run ${JSON.stringify(wanted)} in this repository. See: ${sandduneCommand("ps", "--all")}`
        : `${JSON.stringify(wanted)} matches more than one run: ${candidates.join(", ")}. Name one of them.`,
    );
  }
}

/** Files of a worktree changed after it was found to be clean, so it was not removed. */
export class WorktreeNotCleanError extends SandduneError {
  constructor(readonly path: string) {
    super(
      `The worktree ${path} has uncommitted changes, so it was not removed.${nextCommands([["git", "-C", path, "status"]])}`,
    );
  }
}

/** The run to be removed is still running. */
export class RunStillRunningError extends SandduneError {
  constructor(readonly runningRunId: string) {
    super(`Run ${runningRunId} is still running. To stop it: ${sandduneCommand("stop", runningRunId)}`);
  }
}

/** The run log does not exist. */
export class RunLogNotFoundError extends SandduneError {
  constructor(
    readonly loggedRunId: string,
    /** Where it should be; not set if the journal names none that belongs to the run. */
    readonly path: string | undefined,
  ) {
    super(
      path === undefined
        ? `Run ${loggedRunId} has no run log: its journal names no file that belongs to it.`
        : `The run log of ${loggedRunId} no longer exists: ${path}`,
    );
  }
}

/** A run was asked to stop, and did not end in time. */
export class RunNotStoppedError extends SandduneError {
  constructor(
    readonly runningRunId: string,
    readonly owner: { readonly pid: number; readonly host: string },
    readonly timeoutMs: number,
    /** Whether the process is on this machine. */
    isHere: boolean,
  ) {
    super(
      `Run ${runningRunId} is still running, ${timeoutMs / 1000} s after it was asked to stop. It belongs to process ${owner.pid} on ${owner.host}. ${isHere ? `To end that process, and all other work in it: kill ${owner.pid}` : "End that process on its own machine"}. Then: ${sandduneCommand("clean")}`,
    );
  }
}
