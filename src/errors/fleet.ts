import { SandduneError } from "./base.ts";

/** One of the tasks cannot be done, or not beside another one. Nothing was started, not for the others either. */
export class InvalidTaskError extends SandduneError {
  constructor(
    /** Its place in the list, counted from 0. */
    readonly index: number,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(`tasks[${index}]: ${problem}`, options);
  }
}

/** The run of a task was aborted. `cause` is the reason that was given; the other fields tell what the run had reached. */
export class TaskAbortedError extends SandduneError {
  constructor(options: { cause: unknown }) {
    super("The run was aborted. What the agent had committed by then is kept.", options);
  }
}
