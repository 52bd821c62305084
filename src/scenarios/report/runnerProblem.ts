/** An error of the runner itself. It is no verdict on what is tested: reports count it as an error. */
export interface RunnerProblem {
  /** A page with its line, the id of a scenario, or a file. */
  readonly subject: string;
  readonly message: string;
}
