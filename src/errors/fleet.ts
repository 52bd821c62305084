import { SandduneError } from "./base.ts";

/** A task is not valid, or conflicts with another task. No task was started. */
export class InvalidTaskError extends SandduneError {
  constructor(
    /** Its index in the list. */
    readonly index: number,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(`tasks[${index}]: ${problem}`, options);
  }
}

/** The run of a task was aborted. `cause` is the reason of the abort; the other fields are the results until then. */
export class TaskAbortedError extends SandduneError {
  constructor(options: { cause: unknown }) {
    super("The run was aborted. The agent's commits until then are kept.", options);
  }
}
