import { sandduneWords } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";
import { nextCommands, sentence, sentences } from "./text.ts";

/**
 * A run died, and its processes or its sandbox may still be running. No other run uses its branch or its checkout until they
 * have ended. Nothing was started.
 */
export class DeadRunError extends SandduneError {
  constructor(
    /** The run that died. */
    readonly deadRunId: string,
    /** What may still be running: a sandbox's name, or processes. */
    readonly survivor: string,
    readonly problem: string,
    /** The next commands, each a program with its arguments. */
    readonly commands: readonly (readonly string[])[],
  ) {
    super(
      `Run ${deadRunId} died, and ${survivor} may still be running: ${sentence(problem)}${nextCommands(commands)}`,
    );
  }
}

/** The files of a run that died are in its overlay, and there is no worktree that they could be written to. */
export class OverlayKeptError extends SandduneError {
  constructor(
    /** The run that died. */
    readonly deadRunId: string,
    /** The directory of the overlay: `upper` in it holds the files that the run has changed. */
    readonly overlayPath: string,
    override readonly branch: string,
    readonly problem: string,
    /** The next commands, each a program with its arguments. */
    readonly commands: readonly (readonly string[])[],
  ) {
    super(
      `The files of run ${deadRunId} cannot be written to a worktree of branch ${branch}: ${sentence(problem)} They are kept in ${overlayPath}.${nextCommands(commands)}`,
    );
  }
}

/** An agent may have made the repository at `repositoryPath`, and it was not disarmed: git would run the programs that its settings name. */
export class UntrustedRepositoryError extends SandduneError {
  constructor(
    readonly repositoryPath: string,
    /** The run whose agent may have made it. */
    readonly suspectRunId: string,
    isRunning: boolean,
    /** Where that run worked. */
    readonly checkoutPath: string,
  ) {
    super(
      sentences(
        `${repositoryPath} is a git repository inside ${checkoutPath} that the agent of run ${suspectRunId} may have made. Git would run the programs that its settings name, so it was not opened.`,
        isRunning
          ? "The run is still running: wait until it ends."
          : "The run died before sanddune could disarm it.",
      ) + nextCommands(isRunning ? [] : [sandduneWords("rescue", suspectRunId, "--cwd", checkoutPath)]),
    );
  }
}
