import { sandduneWords } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";
import { nextCommands, sentence, sentences } from "./text.ts";

/**
 * A run died, and what it has left may still be at work: its branch, or its checkout, is not used by
 * another run. Nothing was started.
 */
export class DeadRunError extends SandduneError {
  constructor(
    /** The run that died. */
    readonly deadRunId: string,
    /** What may still be at work: a sandbox's name, or processes. */
    readonly survivor: string,
    readonly problem: string,
    /** What to type, each a program with its arguments. */
    readonly commands: readonly (readonly string[])[],
  ) {
    super(
      `Run ${deadRunId} died, and ${survivor} may still be at work where it worked: ${sentence(problem)}${nextCommands(commands)}`,
    );
  }
}

/** The repository at `repositoryPath` may have been made by an agent, and was not disarmed: git would run what its settings name. */
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
        `${repositoryPath} is a git repository inside of ${checkoutPath} that the agent of run ${suspectRunId} may have made. Git would run the programs that its settings name, so it was not opened.`,
        isRunning
          ? "The run is still at work: wait for its end."
          : "The run died before that could be prevented.",
      ) + nextCommands(isRunning ? [] : [sandduneWords("rescue", suspectRunId, "--cwd", checkoutPath)]),
    );
  }
}
